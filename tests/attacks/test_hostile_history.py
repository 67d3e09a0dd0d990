"""A repository set with traps: reading what landed in it starts none of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from git import Repo as GitPython
from support.git_repo import Repo

from tilth.git.history import open_history
from tilth.git.source import open_source

HOOKS = (
    "post-checkout",
    "post-index-change",
    "pre-auto-gc",
    "reference-transaction",
    "fsmonitor-watchman",
)


class Trapped:
    """Hold a repository whose every setting that can run a program runs ours."""

    def __init__(self, root: Path) -> None:
        self.repo = Repo(root / "repo", {"app.py": "x = 1\n", ".gitattributes": "* diff=t\n"})
        self.sprung = root / "sprung"
        trap = root / "trap"
        trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {self.sprung}\ncat\n')
        trap.chmod(0o755)
        (self.repo.root / ".gitattributes").write_text("* diff=t filter=t merge=t\n")
        (self.repo.root / "app.py").write_text("x = 1\ny = 2\n")
        self.repo.git("add", "-A")
        self.repo.git("commit", "-q", "-m", "T-001: Title\n\nTilth-Task: T-001\n")
        for name in HOOKS:
            (self.repo.root / ".git" / "hooks" / name).symlink_to(trap)
        for name in (
            *("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "core.askPass"),
            *("diff.external", "diff.t.command", "diff.t.textconv", "filter.t.clean"),
            *("filter.t.smudge", "filter.t.process", "merge.t.driver", "gpg.program"),
            *("trailer.tilth-task.cmd", "trailer.tilth-task.command", "interactive.diffFilter"),
        ):
            self.repo.git("config", name, str(trap))
        self.repo.git("config", "log.showSignature", "true")
        self.repo.git("config", "core.hooksPath", str(self.repo.root / ".git" / "hooks"))
        # A file that git must look at again, and so would ask its traps about.
        (self.repo.root / "app.py").write_text("x = 3\n")
        self.sprung.unlink(missing_ok=True)


@pytest.fixture
def trapped(tmp_path: Path) -> Trapped:
    return Trapped(tmp_path)


def test_the_traps_are_live_for_whoever_opens_the_repository_itself(trapped: Trapped) -> None:
    with GitPython(trapped.repo.root) as opened:
        opened.is_dirty()
    assert trapped.sprung.exists()


def test_reading_what_landed_springs_none(trapped: Trapped) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # As the user sits in the repository when typing `tilth report`.
        patch.chdir(trapped.repo.root)
        source = open_source(trapped.repo.root)
        with open_history(source) as history:
            assert type(history).__name__ == "_ThroughGitPython"
            made = history.commit(source.head)
            size = history.size(made.parent or "", made.id)
    assert (made.tasks, size.paths, size.added) == (("T-001",), (".gitattributes", "app.py"), 2)
    assert not trapped.sprung.exists(), trapped.sprung.read_text()


def test_a_planted_alternate_configuration_is_not_read_either(trapped: Trapped) -> None:
    """Nothing in the object store can bring a configuration along."""
    objects = trapped.repo.root / ".git" / "objects"
    for name in ("config", "info/config", "info/attributes"):
        (objects / name).parent.mkdir(exist_ok=True)
        (objects / name).write_text((trapped.repo.root / ".git" / "config").read_text())
    source = open_source(trapped.repo.root)
    with open_history(source) as history:
        history.size(history.commit(source.head).parent or "", source.head)
    assert not trapped.sprung.exists()

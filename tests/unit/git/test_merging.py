"""Merging: a change put onto another tree; a conflict is never a result."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.base.errors import UserError
from tilth.git.merging import Merged, merge
from tilth.git.source import open_source

LINES = "".join(f"line {number}\n" for number in range(20))


class Fork:
    """Hold a base and two changes of it, as commits of one repository."""

    def __init__(self, root: Path, base: dict[str, str]) -> None:
        self.repo = Repo(root, base)
        self.base = self.repo.head()

    def side(self, changes: dict[str, str | None]) -> str:
        """Commit a change of the base; None removes a file."""
        self.repo.git("checkout", "-q", "--detach", self.base)
        for name, text in changes.items():
            if text is None:
                self.repo.git("rm", "-q", name)
        written = {name: text for name, text in changes.items() if text is not None}
        return self.repo.commit_files(written)

    def merge(self, onto: dict[str, str | None], change: dict[str, str | None]) -> Merged:
        ours, theirs = self.side(onto), self.side(change)
        return merge(open_source(self.repo.root), base=self.base, onto=ours, change=theirs)

    def text(self, merged: Merged, name: str) -> str:
        return self.repo.git("show", f"{merged.tree}:{name}")


@pytest.fixture
def fork(tmp_path: Path) -> Fork:
    return Fork(tmp_path / "repo", {"app.py": LINES, "old.py": LINES})


def test_changes_in_different_places_of_one_file_are_put_together(fork: Fork) -> None:
    merged = fork.merge(
        {"app.py": LINES.replace("line 2\n", "two\n")},
        {"app.py": LINES.replace("line 17\n", "seventeen\n")},
    )
    assert merged.clean
    assert fork.text(merged, "app.py") == LINES.replace("line 2\n", "two\n").replace(
        "line 17\n", "seventeen\n"
    )


@pytest.mark.parametrize(
    ("onto", "change", "kind", "path"),
    [
        (
            {"app.py": LINES.replace("line 2\n", "two\n")},
            {"app.py": LINES.replace("line 2\n", "zwei\n")},
            "CONFLICT (contents)",
            "app.py",
        ),
        ({"app.py": None}, {"app.py": LINES + "more\n"}, "CONFLICT (modify/delete)", "app.py"),
        ({"app.py": LINES + "more\n"}, {"app.py": None}, "CONFLICT (modify/delete)", "app.py"),
        ({"new.py": "a = 1\n"}, {"new.py": "b = 2\n"}, "CONFLICT (", "new.py"),
        (
            {"app.py": None, "one.py": LINES},
            {"app.py": None, "two.py": LINES},
            "CONFLICT (rename/rename)",
            "app.py",
        ),
    ],
)
def test_a_conflict_is_named_and_never_a_result(
    fork: Fork, onto: dict[str, str | None], change: dict[str, str | None], kind: str, path: str
) -> None:
    merged = fork.merge(onto, change)
    assert not merged.clean
    assert path in merged.conflicted
    assert merged.conflicts[0].kind.startswith(kind)
    assert path in merged.conflicts[0].message


def test_an_edit_follows_a_renamed_file(fork: Fork) -> None:
    edited = LINES.replace("line 9\n", "nine\n")
    merged = fork.merge({"old.py": None, "fresh.py": LINES}, {"old.py": edited})
    assert merged.clean
    assert fork.text(merged, "fresh.py") == edited


def test_a_conflicted_tree_holds_the_markers_for_whoever_settles_it(fork: Fork) -> None:
    merged = fork.merge({"app.py": "mine\n"}, {"app.py": "theirs\n"})
    text = fork.text(merged, "app.py")
    assert "<<<<<<<" in text
    assert "mine\n" in text
    assert "theirs\n" in text


def test_the_same_three_trees_give_the_same_tree(fork: Fork) -> None:
    ours, theirs = fork.side({"a.py": "a = 1\n"}), fork.side({"b.py": "b = 1\n"})
    source = open_source(fork.repo.root)
    first = merge(source, base=fork.base, onto=ours, change=theirs)
    assert merge(source, base=fork.base, onto=ours, change=theirs) == first


def test_checkout_refs_and_index_stay_as_they_were(fork: Fork) -> None:
    ours, theirs = fork.side({"a.py": "a = 1\n"}), fork.side({"b.py": "b = 1\n"})
    fork.repo.git("checkout", "-q", "main")
    before = (fork.repo.own_state(), fork.repo.git("for-each-ref"))
    merge(open_source(fork.repo.root), base=fork.base, onto=ours, change=theirs)
    assert (fork.repo.own_state(), fork.repo.git("for-each-ref")) == before


def test_a_merge_driver_of_the_repository_is_never_started(fork: Fork, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    fork.repo.git("config", "merge.evil.driver", f"touch {marker}")
    (fork.repo.root / ".git" / "info" / "attributes").write_text("* merge=evil\n")
    merged = fork.merge(
        {"app.py": "mine\n", ".gitattributes": "* merge=evil\n"},
        {"app.py": "theirs\n", ".gitattributes": "* merge=evil\n"},
    )
    assert not merged.clean
    assert not marker.exists()


def test_a_base_outside_the_history_of_both_is_fine(fork: Fork) -> None:
    # What a task began from may be a commit that never stood on the branch.
    blank = fork.repo.git("commit-tree", f"{fork.base}^{{tree}}", "-m", "apart").strip()
    ours, theirs = fork.side({"a.py": "a = 1\n"}), fork.side({"b.py": "b = 1\n"})
    merged = merge(open_source(fork.repo.root), base=blank, onto=ours, change=theirs)
    names = fork.repo.git("ls-tree", "--name-only", merged.tree).split()
    assert names == ["a.py", "app.py", "b.py", "old.py"]


def test_a_git_that_cannot_merge_without_a_worktree_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork = Fork(tmp_path / "repo", {"app.py": LINES})
    older = tmp_path / "bin" / "git"
    older.parent.mkdir()
    older.write_text(
        '#!/bin/sh\nif [ "$1" = version ]; then echo git version 2.37.9; exit; fi\n'
        f'exec {shutil.which("git")} "$@"\n'
    )
    older.chmod(0o755)
    monkeypatch.setenv("PATH", f"{older.parent}:{os.environ['PATH']}")
    with pytest.raises(UserError, match=r"^git 2\.37 cannot .*: install git 2\.38 or newer$"):
        fork.merge({"app.py": "ours\n"}, {"new.py": "theirs\n"})

"""Ruff after an edit: heard when there is something to say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tilth.model.messages import ToolCall
from tilth.sandbox.confinement import Access, Command, Unconfined, environment
from tilth.tools import Toolbox, ToolOutcome, find_ruff
from tilth.tools.lint import Linter

CLEAN = "x = 1\n"
DIRTY = "import os\n"


def call(root: Path, name: str, *, ruff: Path | None = None, **arguments: Any) -> ToolOutcome:
    box = Toolbox(
        root=root,
        confinement=Unconfined(),
        access=Access(),
        env=environment(os.environ, home=root),
        bash_timeout_s=5,
        ruff=ruff or find_ruff(),
    )
    return box.run(ToolCall(id="c1", name=name, arguments=arguments))


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "worktree"
    root.mkdir()
    (root / "pyproject.toml").write_text('[tool.ruff.lint]\nselect = ["F"]\n')
    return root


def test_a_clean_file_is_met_with_silence(root: Path) -> None:
    outcome = call(root, "write_file", path="a.py", content=CLEAN)

    assert outcome.content == "created a.py (1 line)"
    [hook] = outcome.hooks
    assert (hook.hook, hook.path, hook.output, hook.exit_code) == ("ruff", "a.py", "", 0)


@pytest.mark.parametrize("path", ["a.py", "src/-b.pyi", "a\nb.py"])
def test_findings_are_added_to_the_result(root: Path, path: str) -> None:
    outcome = call(root, "write_file", path=path, content=DIRTY)

    assert "\n\nruff found problems in it:\n" in outcome.content
    assert "F401" in outcome.content
    assert not outcome.is_error
    [hook] = outcome.hooks
    assert hook.exit_code == 1
    assert "F401" in hook.output


def test_an_edit_is_checked_as_well(root: Path) -> None:
    (root / "a.py").write_text(CLEAN)

    outcome = call(root, "edit_file", path="a.py", old_string="1", new_string="y")

    assert "F821" in outcome.content


def test_a_syntax_error_is_a_finding(root: Path) -> None:
    assert "invalid-syntax" in call(root, "write_file", path="a.py", content="def f(:\n").content


def test_other_files_are_not_checked(root: Path) -> None:
    assert call(root, "write_file", path="a.txt", content=DIRTY).hooks == ()
    assert call(root, "read_file", path="a.txt").hooks == ()


def test_a_failed_edit_is_not_checked(root: Path) -> None:
    assert call(root, "edit_file", path="a.py", old_string="a", new_string="b").hooks == ()


def test_the_projects_own_configuration_counts(root: Path) -> None:
    (root / "pyproject.toml").write_text(
        '[tool.ruff]\nexclude = ["old/"]\n[tool.ruff.lint]\nselect = ["E711"]\n'
    )

    assert call(root, "write_file", path="a.py", content=DIRTY).hooks[0].exit_code == 0
    assert (
        "E711"
        in call(root, "write_file", path="b.py", content="x = 1 if y == None else 2\n").content
    )
    assert (
        "E711"
        not in call(
            root, "write_file", path="old/b.py", content="x = 1 if y == None else 2\n"
        ).content
    )


def test_a_project_that_fixes_by_itself_is_not_fixed_behind_the_workers_back(root: Path) -> None:
    (root / "pyproject.toml").write_text(
        '[tool.ruff]\nfix = true\n[tool.ruff.lint]\nselect=["F"]\n'
    )

    outcome = call(root, "write_file", path="a.py", content=DIRTY)

    assert (root / "a.py").read_text() == DIRTY
    assert "F401" in outcome.content


def test_no_cache_is_left(root: Path) -> None:
    call(root, "write_file", path="a.py", content=CLEAN)

    assert sorted(os.listdir(root)) == ["a.py", "pyproject.toml"]


def test_a_broken_configuration_is_silent_but_reported(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.ruff]\nnonsense = 1\n")

    outcome = call(root, "write_file", path="a.py", content=DIRTY)

    assert outcome.content == "created a.py (1 line)"
    [hook] = outcome.hooks
    assert hook.exit_code == 2
    assert "nonsense" in hook.output


def test_a_missing_ruff_is_silent_but_reported(root: Path, tmp_path: Path) -> None:
    outcome = call(root, "write_file", ruff=tmp_path / "gone", path="a.py", content=DIRTY)

    assert outcome.content == "created a.py (1 line)"
    [hook] = outcome.hooks
    assert hook.exit_code is None
    assert "no such program" in hook.output


def test_a_crashing_ruff_is_silent_but_reported(root: Path, tmp_path: Path) -> None:
    crashing = script(tmp_path / "ruff", "echo boom; kill -SEGV $$")

    outcome = call(root, "write_file", ruff=crashing, path="a.py", content=DIRTY)

    assert outcome.content == "created a.py (1 line)"
    [hook] = outcome.hooks
    assert hook.exit_code == 139
    assert hook.output == "boom\n"


def test_a_slow_ruff_is_stopped_and_reported(root: Path, tmp_path: Path) -> None:
    slow = script(tmp_path / "ruff", "sleep 300")
    env = {"PATH": os.environ["PATH"]}

    hook = Linter(slow, root, Unconfined(), Access(), env, timeout_s=0.2).check("a.py")

    assert hook.exit_code is None
    assert hook.output == "[ruff was stopped after 0.2 s]"


def test_ruff_runs_behind_the_wall(root: Path) -> None:
    seen: list[str] = []

    class Wall:
        name = "recording"

        def wrap(self, command: Command, access: Access) -> Command:
            seen.extend(command.argv)
            return command

    ruff = find_ruff()
    assert ruff is not None
    Linter(ruff, root, Wall(), Access(), {}).check("a.py")

    assert seen[0] == str(ruff)
    assert seen[-2:] == ["--", "a.py"]


def test_without_ruff_nothing_is_checked(root: Path) -> None:
    box = Toolbox(root=root, confinement=Unconfined(), access=Access(), env={}, bash_timeout_s=5)
    arguments = {"path": "a.py", "content": DIRTY}

    assert box.run(ToolCall(id="c1", name="write_file", arguments=arguments)).hooks == ()


def committed(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).write_text(text)
    who = ("-c", "user.name=A User", "-c", "user.email=user@example.org")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "first")):
        subprocess.run(["git", *words], cwd=root, check=True)


def test_what_was_there_before_is_not_blamed_on_an_edit(root: Path) -> None:
    committed(root, {"a.py": DIRTY})

    moved = call(root, "write_file", path="a.py", content=f"x = 1\n{DIRTY}")
    worse = call(root, "write_file", path="a.py", content=f"{DIRTY}import sys\n")

    assert moved.hooks[0].exit_code == 0
    assert "ruff" not in moved.content
    assert "`sys` imported but unused" in worse.content
    assert "`os`" not in worse.content


def test_a_project_without_a_configuration_hears_only_of_what_is_broken(root: Path) -> None:
    (root / "pyproject.toml").unlink()

    assert call(root, "write_file", path="a.py", content=DIRTY).hooks[0].exit_code == 0
    assert "F821" in call(root, "write_file", path="a.py", content="print(nobody)\n").content

"""The export: what a command in it may reach and change, decided without running one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tilth.gate.export import Export, Runtime, open_bare
from tilth.sandbox.confinement import Access, Bind, Command


@dataclass
class Watching:
    """Be a wall that lets everything through and notes what it was asked for."""

    asked: list[tuple[Command, Access]] = field(default_factory=list)

    def wrap(self, command: Command, access: Access) -> Command:
        self.asked.append((command, access))
        return command


@pytest.fixture
def wall() -> Watching:
    return Watching()


@pytest.fixture
def export(tmp_path: Path, wall: Watching) -> Any:
    runtime = Runtime(
        export=lambda _tree, _into: None,
        confinement=wall,
        access=Access(writable=(tmp_path / "w",), readable=(tmp_path / "r",), network=False),
        env={"PATH": "/usr/bin:/bin", "HOME": "/of/the/worker"},
        python=tmp_path / "python",
        ruff=tmp_path / "ruff",
        scratch=tmp_path / "scratch",
        stands_for=(tmp_path / "source", tmp_path / "worktree"),
    )
    with open_bare(runtime) as export:
        (export.path / "tests").mkdir()
        for name in ("tests/test_a.py", "conftest.py", "other.py"):
            (export.path / name).write_text("x = 1\n")
        yield export


def test_a_command_has_a_home_of_its_own_and_stands_in_the_export(
    export: Export, wall: Watching
) -> None:
    finished = export.run(("sh", "-c", "echo $HOME; pwd; echo $MORE"), 60.0, {"MORE": "more"})
    home = str(export.root / "home")
    assert finished.output.split() == [home, ".", "more"]
    [(command, _)] = wall.asked
    assert (command.cwd, command.env["PATH"]) == (export.path, "/usr/bin:/bin")


def test_the_export_stands_in_the_place_of_every_checkout(export: Export, wall: Watching) -> None:
    export.run(("true",), 60.0)
    [(_, access)] = wall.asked
    root = export.root.parents[1]
    assert access.writable == (root / "w", export.root)
    assert {root / "r", root / "ruff"} <= set(access.readable)
    assert access.binds == tuple(
        Bind(source=export.path, target=root / place, writable=True)
        for place in ("source", "worktree")
    )


def test_what_is_printed_names_files_as_the_repository_does(export: Export) -> None:
    text = f"{export.path}/a.py:1 in {export.path}"
    assert export.named_plainly(text) == "a.py:1 in ."

"""The export: what a command in it may reach and change, decided without running one."""

from __future__ import annotations

import os
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


def test_a_kept_file_is_read_only_wherever_it_is_seen_and_its_directory_stays_in_place(
    export: Export, wall: Watching
) -> None:
    export.keep(["tests/test_a.py"])
    export.run(("true",), 60.0)
    [(_, access)] = wall.asked
    root = export.root.parents[1]
    for place in (export.path, root / "source", root / "worktree"):
        file, folder = export.path / "tests" / "test_a.py", export.path / "tests"
        closed = Bind(source=file, target=place / "tests" / "test_a.py")
        pinned = Bind(source=folder, target=place / "tests", writable=True)
        assert not closed.writable
        assert access.binds.index(pinned) < access.binds.index(closed)
    assert Bind(source=export.path, target=export.path, writable=True) in access.binds


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text("x = 2\n"),
        lambda file: file.unlink(),
        lambda file: file.rename(file.with_name("moved.py")),
        lambda file: os.utime(file, ns=(1, 1)),
    ],
)
def test_a_kept_file_that_was_changed_is_named(export: Export, change: Any) -> None:
    export.keep(["conftest.py", "tests/test_a.py"])
    assert export.rewritten() == ()
    change(export.path / "conftest.py")
    assert export.rewritten() == ("conftest.py",)


def test_what_was_kept_first_counts_unless_the_gate_itself_put_it_right(export: Export) -> None:
    export.keep(["conftest.py"])
    (export.path / "conftest.py").write_text("changed\n")
    export.keep(["conftest.py"])
    assert export.rewritten() == ("conftest.py",)
    export.keep(["conftest.py"], again=True)
    assert export.rewritten() == ()


def test_a_link_is_kept_as_the_file_it_leads_to_and_never_out_of_the_export(
    export: Export, tmp_path: Path
) -> None:
    outside = tmp_path / "secret"
    outside.write_text("secret")
    (export.path / "in.py").symlink_to("other.py")
    (export.path / "out.py").symlink_to(outside)
    (export.path / "folder").symlink_to("tests")
    export.keep(["in.py", "out.py", "folder/test_a.py", "gone.py", "tests"])
    assert list(export.kept) == ["in.py"]
    assert not (export.path / "in.py").is_symlink()
    assert (export.path / "in.py").read_text() == "x = 1\n"


def test_what_is_printed_names_files_as_the_repository_does(export: Export) -> None:
    text = f"{export.path}/a.py:1 in {export.path}"
    assert export.named_plainly(text) == "a.py:1 in ."

"""What a change does to the gate: suspicious lines, and the plan of what to put right."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.gate_project import task

from tilth.contract.prd import Plan
from tilth.contract.prd import Status as TaskStatus
from tilth.gate.overlay import Overlay, Seeds, Trees, gather_seeds, lay_out, plan_overlay
from tilth.gate.pytest_config import PytestSetup
from tilth.gate.shadowing import shadows
from tilth.gate.tampering import (
    MOST_OF_A_KIND,
    Tampering,
    TamperKind,
    tampering_notes,
)
from tilth.git.changes import Change, Status

SEED = "tests/test_t001_add.py"
TOOLS = ("pytest", "pluggy", "ruff")


def test_a_flood_of_restored_files_hides_no_changed_seed_test() -> None:
    flood = [Tampering(path=f"d{n}/conftest.py", did="it was left out") for n in range(100)]
    seed = Tampering(path=SEED, did="the seed test was changed", kind=TamperKind.SEED)
    shadow = Tampering(path="json.py", did="it shadows", kind=TamperKind.SHADOW)
    helper = Tampering(path="tests/data.txt", did="it was put back", kind=TamperKind.SUPPORT)
    notes = tampering_notes([helper, *flood, shadow, seed])
    assert notes[:2] == (f"{SEED}: the seed test was changed", "json.py: it shadows")
    assert notes[-1] == "tests/data.txt: it was put back"
    assert len(notes) == MOST_OF_A_KIND + 4


def test_a_flood_of_new_files_hides_no_changed_one_of_the_base() -> None:
    flood = [f"a{n:02}/test_t001_add.py" for n in range(40)]
    steer = [f"b{n:02}/conftest.py" for n in range(40)]
    base = {SEED: b"pristine", "pytest.ini": b"[pytest]"}
    changes = [Change(status="A", path=path) for path in (*flood, *steer)]
    changes += [Change(status="M", path=path) for path in base]
    trees = Trees(base, [*flood, *steer, *base], changes, base.get, lambda _: b"changed")
    prefixes = ("test_t001_",)
    seeds = Seeds(own={SEED: b"pristine"}, done={}, open_prefixes=(), all_prefixes=prefixes)
    notes = tampering_notes(plan_overlay(trees, seeds).found)
    assert notes[0].startswith(f"{SEED}: the seed test was changed")
    assert notes[MOST_OF_A_KIND + 1].startswith("pytest.ini: it steers the gate and it was changed")


def test_a_seed_test_that_the_base_did_not_hold_is_the_gravest_too() -> None:
    flood = [f"a{n:02}/test_t001_add.py" for n in range(40)]
    changes = [Change(status="A", path=path) for path in (*flood, SEED)]
    trees = Trees([], [*flood, SEED], changes, lambda _: None, lambda _: b"changed")
    seeds = Seeds(own={SEED: b"pristine"}, done={}, open_prefixes=(), all_prefixes=())
    assert tampering_notes(plan_overlay(trees, seeds).found)[0].startswith(f"{SEED}: ")


def planned(
    status: Status,
    path: str,
    *,
    base: dict[str, bytes] | None = None,
    tree: bytes | None = b"changed",
    allowed: tuple[str, ...] = (),
) -> Overlay:
    """Plan the overlay of one change."""
    held = base or {}
    names = {"random", "json", *TOOLS}
    trees = Trees(
        base_files=held,
        tree_files=[path],
        changes=[Change(status=status, path=path)],
        read_base=held.get,
        read_tree=lambda _: tree,
    )
    trees.shadows = shadows(trees, [PytestSetup()], lambda: names)
    seeds = Seeds(
        own={SEED: b"pristine"},
        done={},
        open_prefixes=("test_t002_",),
        all_prefixes=("test_t001_", "test_t002_"),
    )
    return plan_overlay(trees, seeds, allowed)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "a/b/conftest.py",
        "tests/conftest/__init__.py",
        "pytest.ini",
        "tests/.pytest.ini",
        "pytest.toml",
        "a/.pytest.toml",
        "ruff.toml",
        "src/.ruff.toml",
        ".coveragerc",
        "sitecustomize.py",
        "src/usercustomize.cpython-311.so",
        "x.pth",
        "x.egg-info/entry_points.txt",
        "src/x-1.dist-info/RECORD",
        "pytest.py",
        "src/pluggy/__init__.py",
        "tests/ruff.py",
        "random.py",
        "src/json/__init__.py",
        "tests/test_t001_add/__init__.py",
        "test_t001_add.py",
        "tests/test_t002_later.py",
    ],
)
def test_a_new_file_that_steers_or_hides_is_left_out(path: str) -> None:
    overlay = planned("A", path)
    assert path in overlay.removes
    assert overlay.tampered == (path,)


@pytest.mark.parametrize(
    "path",
    [
        "src/calc.py",
        "README.md",
        "pytest_notes.md",
        "docs/conftest.md",
        "tests/json/data.py",
        "tests/test_calc.py",
        "test/test_calc.py",
        "pkg/random.py",
        "json.md",
        "docs/test_t001_add.md",
        "setup.py",
        "site/build.py",
        "src/code/words.py",
    ],
)
def test_a_file_that_is_the_workers_own_stays(path: str) -> None:
    overlay = planned("A", path)
    assert (overlay.removes, overlay.tampered) == ((), ())
    assert list(overlay.places) == [SEED]


def test_a_module_called_like_the_standard_library_that_the_base_had_stays() -> None:
    held = {"random.py": b"", "src/queue/__init__.py": b""}
    assert planned("M", "random.py", base=held).tampered == ()
    assert planned("A", "src/queue/more.py", base=held).tampered == ()


@pytest.mark.parametrize("status", ["M", "D", "T"])
def test_a_changed_or_deleted_steering_file_comes_from_the_base(status: Status) -> None:
    overlay = planned(status, "tests/conftest.py", base={"tests/conftest.py": b"base"})
    assert overlay.places["tests/conftest.py"] == b"base"
    assert overlay.removes == ()


def test_a_seed_test_is_always_the_pristine_one() -> None:
    assert planned("M", SEED).places[SEED] == b"pristine"
    assert tampering_notes(planned("M", SEED).found) == (
        f"{SEED}: the seed test was changed; the pristine copy was run",
    )
    assert planned("D", SEED).found[0].did.startswith("the seed test was deleted")
    assert planned("A", SEED, tree=b"pristine").tampered == ()


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("conftest.py", "conftest.py", True),
        ("conftest.py", "a/b/conftest.py", True),
        ("tests/conftest.py", "conftest.py", False),
        ("tests/*.py", "tests/conftest.py", True),
        ("tests/*.py", "tests/a/conftest.py", False),
        ("**/conftest.py", "conftest.py", True),
        ("**/conftest.py", "a/b/conftest.py", True),
        ("./pytest.ini", "pytest.ini", True),
        ("pytest.in?", "pytest.ini", True),
        ("conftest", "conftest.py", False),
    ],
)
def test_a_task_may_change_what_its_globs_name(glob: str, path: str, fits: bool) -> None:
    assert (planned("A", path, allowed=(glob,)).tampered == ()) is fits


def test_a_glob_never_lets_a_seed_test_be_changed() -> None:
    assert planned("M", SEED, allowed=("**",)).tampered


def test_an_overlay_replaces_what_is_in_its_way(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.py").write_text("kept")
    export = tmp_path / "export"
    (export / "pkg" / "conftest.py").mkdir(parents=True)
    (export / "tests").symlink_to(outside)
    (export / "gone.pth").symlink_to(outside / "kept.py")
    (export / "file").write_text("a file where a directory must be")
    os.mkfifo(export / "pipe.pth")
    places = {"tests/a.py": b"1", "pkg/conftest.py": b"2", "file/x.py": b"3"}
    lay_out(Overlay(places=places, removes=("gone.pth", "pipe.pth", "never.pth")), export)
    assert {path: (export / path).read_bytes() for path in places} == places
    assert [path.name for path in outside.iterdir()] == ["kept.py"]
    assert not (export / "gone.pth").is_symlink()
    assert not (export / "pipe.pth").exists()


def test_seed_tests_are_sorted_by_the_state_of_their_task(tmp_path: Path) -> None:
    for name in ("test_t001_a.py", "test_t002_b.py", "test_t003_c.py", "test_t0011_d.py"):
        (tmp_path / name).write_text(name)
    plan = Plan(tasks=(task(1), task(2, TaskStatus.DONE), task(3, TaskStatus.FAILED)))
    seeds = gather_seeds(tmp_path, plan.tasks[0], plan)
    assert list(seeds.own) == ["tests/test_t001_a.py"]
    assert list(seeds.done) == ["tests/test_t002_b.py"]
    assert seeds.is_open("tests/test_t003_c.py")
    assert not seeds.is_open("tests/sub/test_t003_c.py")

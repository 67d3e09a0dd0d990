"""What a change does to the gate: suspicious lines, and the plan of what to put right."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.gate_project import task

from tilth.contract.prd import Plan
from tilth.contract.prd import Status as TaskStatus
from tilth.gate.diff_lines import added_lines
from tilth.gate.import_roots import import_roots
from tilth.gate.overlay import Overlay, Seeds, Trees, gather_seeds, lay_out, plan_overlay
from tilth.gate.pytest_config import PytestSetup
from tilth.gate.shadowing import Importable, shadows
from tilth.gate.tampering import (
    MOST_OF_A_KIND,
    Tampering,
    TamperKind,
    suspicious_lines,
    tampering_notes,
)
from tilth.git.changes import Change, Status
from tilth.git.command import shown

SEED = "tests/test_t001_add.py"
DIFF = """\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,3 +1,4 @@
 import sys
-old = 1  # noqa
+x = 1
+++ b/not/a/header # noqa
 y = 2
@@ -10 +11,2 @@ def f():
 z = 3
+import atexit
diff --git a/b c.py b/b c.py
new file mode 100644
--- /dev/null
+++ b/b c.py\t
@@ -0,0 +1 @@
+@pytest.mark.xfail
\\ No newline at end of file
"""


def test_suspicious_lines_are_named_with_their_place() -> None:
    assert suspicious_lines(DIFF) == (
        "a.py:12: adds atexit: import atexit",
        "b c.py:1: adds a skip or xfail mark: @pytest.mark.xfail",
        "a.py:3: adds noqa: ++ b/not/a/header # noqa",
    )


def added(text: str) -> str:
    return f"--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+{text}\n"


def test_a_quoted_name_with_a_byte_that_is_no_text_is_told_as_it_is_shown_elsewhere() -> None:
    diff = shown(b'+++ "b/b\xff\\t.py"\n@@ -0,0 +1 @@\n+x = 1\n')
    assert [line.path for line in added_lines(diff)] == [shown(b"b\xff\t.py")]


def test_a_line_that_is_quoted_for_another_reason_hides_nothing_either() -> None:
    [note] = suspicious_lines(added("x = 1  # noqa twenty\u00a0apples"))
    assert note.endswith("twenty\\xa0apples")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("x = 1  # noqa: E501", "noqa"),
        ("# ruff: noqa", "noqa"),
        ("# flake8: noqa", "noqa"),
        ("# ruff: file-ignore[F401]", "ruff: ignore"),
        ("x = f()  # type: ignore[arg-type]", "type: ignore"),
        ("x = f()  # pyright: ignore", "type: ignore"),
        ("@pytest.mark.skipif(True, reason='')", "a skip or xfail mark"),
        ("pytest.skip('later')", "a skip"),
        ("@unittest.skipUnless(0, '')", "unittest.skip"),
        ("@unittest.expectedFailure", "unittest.skip"),
        ("self.skipTest('later')", "a skip"),
        ("os._exit(0)", "os._exit"),
        ("from os import path, _exit", "os._exit"),
        ("import atexit", "atexit"),
        ("from _pytest import runner", "_pytest"),
        ("sys._getframe(1).f_globals.clear()", "a reach into the running interpreter"),
        ("add.__code__ = other.__code__", "a reach into the running interpreter"),
    ],
)
def test_a_line_that_silences_a_check_is_found(line: str, what: str) -> None:
    [note] = suspicious_lines(added(line))
    assert note == f"a.py:1: adds {what}: {line}"


@pytest.mark.parametrize(
    "line", ["skip = 1", "import pytest", "sys.exit(1)", "x = 'ignore type'", "def skip_row():"]
)
def test_an_innocent_line_is_not(line: str) -> None:
    assert suspicious_lines(added(line)) == ()


def test_a_flood_of_notes_is_counted_instead() -> None:
    many = "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,100 @@\n" + "+x  # noqa\n" * 100
    notes = suspicious_lines(many)
    assert len(notes) == MOST_OF_A_KIND + 1
    assert notes[-1] == "… and 90 more of the same kind, in a.py"


def test_a_flood_of_harmless_notes_hides_no_grave_one() -> None:
    many = "--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,101 @@\n" + "+x  # noqa\n" * 100 + "+os._exit(0)\n"
    assert suspicious_lines(many)[0] == "a.py:101: adds os._exit: os._exit(0)"


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
    notes = tampering_notes(plan_overlay(trees, seeds).tampered)
    assert notes[0].startswith(f"{SEED}: the seed test was changed")
    assert notes[MOST_OF_A_KIND + 1].startswith("pytest.ini: it steers the gate and was changed")


def test_a_seed_test_that_the_base_did_not_hold_is_the_gravest_too() -> None:
    flood = [f"a{n:02}/test_t001_add.py" for n in range(40)]
    changes = [Change(status="A", path=path) for path in (*flood, SEED)]
    trees = Trees([], [*flood, SEED], changes, lambda _: None, lambda _: b"changed")
    seeds = Seeds(own={SEED: b"pristine"}, done={}, open_prefixes=(), all_prefixes=())
    assert tampering_notes(plan_overlay(trees, seeds).tampered)[0].startswith(f"{SEED}: ")


def in_files(files: dict[str, str]) -> str:
    return "".join(
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{text}\n" for path, text in files.items()
    )


def test_a_flood_of_comments_and_prose_hides_no_line_that_is_run() -> None:
    flood = {f"a{n:02}.py": "# never call os._exit here" for n in range(20)}
    prose = {f"b{n:02}.md": "never call os._exit here" for n in range(20)}
    assert suspicious_lines(in_files({**flood, **prose, "calc.py": "os._exit(0)"}))[0] == (
        "calc.py:1: adds os._exit: os._exit(0)"
    )


def test_a_comment_that_silences_a_whole_file_is_no_less_for_being_one() -> None:
    files = {"a.py": "# ruff: noqa", **{f"b{n:02}.py": "x = 1  # noqa" for n in range(40)}}
    assert suspicious_lines(in_files(files))[0] == "a.py:1: adds noqa: # ruff: noqa"


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
    known = Importable(library=frozenset({"random", "json"}))
    roots = import_roots(held, [path], [PytestSetup()])
    trees = Trees(
        base_files=held,
        tree_files=[path],
        changes=[Change(status=status, path=path)],
        read_base=held.get,
        read_tree=lambda _: tree,
        shadows=shadows(held, [path], roots, known),
    )
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
    assert [tampering.path for tampering in overlay.tampered] == [path]


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
    assert planned("M", SEED).tampered[0].line() == (
        f"{SEED}: the seed test was changed; the pristine copy was run"
    )
    assert planned("D", SEED).tampered[0].did.startswith("the seed test was deleted")
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

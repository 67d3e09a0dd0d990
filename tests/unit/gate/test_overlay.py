"""The overlay: what an export gets from the base, and what of a change is left out of it."""

from __future__ import annotations

import pytest

from tilth.gate.overlay import Overlay, Seeds, Trees, plan_overlay
from tilth.gate.tampering import TamperKind, tampering_notes
from tilth.git.changes import Change, Status

SEED = "tests/test_t001_add.py"
SEEDS = Seeds(
    own={SEED: b"pristine"},
    done={},
    open_prefixes=("test_t002_",),
    all_prefixes=("test_t001_", "test_t002_"),
)


def planned(
    *changes: tuple[Status, str],
    base: dict[str, bytes],
    tree: dict[str, bytes] | None = None,
    allowed: tuple[str, ...] = (),
    known: tuple[str, ...] = (),
) -> Overlay:
    held = tree or {}
    trees = Trees(
        base_files=base,
        tree_files=[path for status, path in changes if status != "D"],
        changes=[Change(status=status, path=path) for status, path in changes],
        read_base=base.get,
        read_tree=held.get,
    )
    return plan_overlay(trees, SEEDS, allowed, known)


@pytest.mark.parametrize("status", ["M", "D", "T"])
def test_acceptance_tests_see_the_bases_copy_of_what_stands_beside_them(status: Status) -> None:
    found = planned((status, "tests/data.json"), base={"tests/data.json": b"{}"})
    assert found.support == {"tests/data.json": b"{}"}
    [weakened] = found.found
    assert (weakened.path, weakened.kind) == ("tests/data.json", TamperKind.SUPPORT)
    assert found.tampered == ()


def test_a_test_of_the_base_that_was_changed_is_put_back_and_not_called_support() -> None:
    found = planned(("M", "tests/test_old.py"), base={"tests/test_old.py": b"x"})
    assert (found.support, found.tampered) == ({"tests/test_old.py": b"x"}, ())
    assert tampering_notes(found.found) == ()


def test_so_it_is_of_what_tests_were_seen_to_read_wherever_it_stands() -> None:
    base = {"data/g.json": b"5", "data/other.json": b"6"}
    changes: tuple[tuple[Status, str], ...] = (("M", "data/g.json"), ("M", "data/other.json"))
    found = planned(*changes, base=base, known=("data/g.json",))
    assert found.support == {"data/g.json": b"5"}
    assert tampering_notes(found.found) == (
        "data/g.json: tests stand on it and it was changed; acceptance tests saw the base's copy",
    )


def test_a_link_beside_the_tests_that_leads_elsewhere_now_is_named() -> None:
    found = planned(("M", "tests/golden"), base={}).found
    assert tampering_notes(found) == (
        "tests/golden: tests stand on it and it was changed; acceptance tests saw it as it is",
    )


def test_what_a_task_may_change_what_is_new_and_what_stands_elsewhere_is_left_alone() -> None:
    base = {"tests/data.json": b"{}", "src/data.json": b"{}"}
    changes: tuple[tuple[Status, str], ...] = (
        ("M", "tests/data.json"),
        ("A", "tests/new.json"),
        ("M", "src/data.json"),
    )
    found = planned(*changes, base=base, allowed=("tests/data.json",))
    assert (found.support, found.found) == ({}, ())


def test_a_steering_file_is_put_back_as_such_and_not_as_support() -> None:
    found = planned(("M", "tests/conftest.py"), base={"tests/conftest.py": b"base"})
    assert found.places["tests/conftest.py"] == b"base"
    assert found.support == {}
    assert [each.kind for each in found.found] == [TamperKind.STEERING]


def test_a_directory_of_tests_is_made_no_package_but_a_new_directory_may_be_one() -> None:
    base = {"tests/unit/test_a.py": b"", "tests/test_b.py": b""}
    for path in ("tests/__init__.py", "tests/unit/__init__.py"):
        assert planned(("A", path), base=base).removes == (path,)
    assert planned(("A", "tests/new/__init__.py"), base=base).removes == ()
    assert planned(("A", "src/__init__.py"), base=base).removes == ()


def test_a_module_that_hides_a_seed_test_is_left_out_and_a_deleted_one_hides_nothing() -> None:
    hides = "tests/test_t001_add/__init__.py"
    assert planned(("A", hides), base={}).removes == (hides,)
    assert planned(("D", "src/test_t001_add.py"), base={"src/test_t001_add.py": b""}).tampered == ()
    assert planned(("A", "docs/test_t001_add.md"), base={}).tampered == ()


def test_a_shared_file_that_cannot_be_read_is_the_bases_and_breaks_the_gate_at_the_root() -> None:
    base = {"pyproject.toml": b"[tool.ruff]\n", "a/setup.cfg": b"[x]\n"}
    led = planned(("T", "pyproject.toml"), base=base)
    assert led.places["pyproject.toml"] == b"[tool.ruff]\n"
    assert led.broken == ("pyproject.toml cannot be read: it leads out of the repository",)
    deep = planned(("M", "a/setup.cfg"), base=base, tree={"a/setup.cfg": b"no section\n"})
    assert (deep.places["a/setup.cfg"], deep.broken) == (b"[x]\n", ())
    assert planned(("D", "a/setup.cfg"), base=base).tampered == ()

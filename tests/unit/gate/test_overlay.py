"""The overlay: what an export gets from the base, and what of a change is left out of it."""

from __future__ import annotations

import pytest

from tilth.gate.overlay import Overlay, Seeds, Trees, plan_overlay
from tilth.gate.tampering import TamperKind
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
    links: dict[str, str] | None = None,
) -> Overlay:
    held = tree or {}
    trees = Trees(
        base_files=base,
        tree_files=[path for status, path in changes if status != "D"],
        changes=[Change(status=status, path=path) for status, path in changes],
        read_base=base.get,
        read_tree=held.get,
        links=links,
    )
    return plan_overlay(trees, SEEDS, allowed)


@pytest.mark.parametrize("status", ["M", "D", "T"])
def test_acceptance_tests_see_the_bases_copy_of_what_stands_beside_them(status: Status) -> None:
    found = planned((status, "tests/data.json"), base={"tests/data.json": b"{}"})
    assert found.support == {"tests/data.json": b"{}"}
    [weakened] = found.weakened
    assert (weakened.path, weakened.kind) == ("tests/data.json", TamperKind.SUPPORT)
    assert found.tampered == ()


def test_a_test_of_the_base_that_was_changed_is_put_back_and_not_called_support() -> None:
    found = planned(("M", "tests/test_old.py"), base={"tests/test_old.py": b"x"})
    assert (found.support, found.weakened) == ({"tests/test_old.py": b"x"}, ())


LINKS = {"tests/golden": "data/golden", "tests/one.json": "data/one.json"}


@pytest.mark.parametrize(
    ("path", "link"),
    [("data/golden/deep/g.json", "tests/golden"), ("data/one.json", "tests/one.json")],
)
@pytest.mark.parametrize("allowed", [(), ("data/**",)])
def test_what_stands_beside_the_tests_by_a_link_is_named_and_not_put_back(
    path: str, link: str, allowed: tuple[str, ...]
) -> None:
    found = planned(("M", path), base={path: b"5"}, allowed=allowed, links=LINKS)
    assert (found.support, found.tampered) == ({}, ())
    [named] = found.weakened
    assert named.line() == (
        f"{path}: it stands beside the tests by the link {link} and was changed; "
        "acceptance tests saw it so"
    )


def test_a_link_beside_the_tests_that_leads_elsewhere_now_is_named() -> None:
    found = planned(("M", "tests/golden"), base={}, links=LINKS)
    [named] = found.weakened
    assert named.line() == (
        "tests/golden: it is a link beside the tests and was changed; acceptance tests saw it so"
    )


@pytest.mark.parametrize(
    ("status", "path"), [("A", "data/golden/new.json"), ("M", "data/goldens/g.json")]
)
def test_what_is_new_there_or_only_called_alike_is_not(status: Status, path: str) -> None:
    assert planned((status, path), base={path: b"5"}, links=LINKS).weakened == ()


def test_what_a_task_may_change_what_is_new_and_what_stands_elsewhere_is_left_alone() -> None:
    base = {"tests/data.json": b"{}", "src/data.json": b"{}"}
    changes: tuple[tuple[Status, str], ...] = (
        ("M", "tests/data.json"),
        ("A", "tests/new.json"),
        ("M", "src/data.json"),
    )
    found = planned(*changes, base=base, allowed=("tests/data.json",))
    assert (found.support, found.weakened, found.tampered) == ({}, (), ())


def test_a_steering_file_is_put_back_as_such_and_not_as_support() -> None:
    found = planned(("M", "tests/conftest.py"), base={"tests/conftest.py": b"base"})
    assert found.places["tests/conftest.py"] == b"base"
    assert (found.support, found.weakened) == ({}, ())
    assert found.tampered[0].kind is TamperKind.STEERING


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


def test_what_nothing_may_change_during_the_run_is_the_gravest_first() -> None:
    base = {"tests/test_old.py": b"", "tests/data.txt": b"", "conftest.py": b"", "src/a.py": b""}
    found = planned(("M", "conftest.py"), base=base)
    assert found.kept == (SEED, "conftest.py", "tests/data.txt", "tests/test_old.py")

"""What tests stand on is told from who reads it on the base."""

from __future__ import annotations

import pytest

from tilth.gate.support_files import support_files

TEST = "tests/test_a.py"
CASES: dict[str, tuple[list[tuple[str, str]], set[str]]] = {
    "a helper beside the tests": ([(TEST, "tests/helpers.py")], {"tests/helpers.py"}),
    "what a helper reads": (
        [(TEST, "tests/helpers.py"), ("tests/helpers.py", "data/golden.json")],
        {"tests/helpers.py", "data/golden.json"},
    ),
    "golden data anywhere": ([(TEST, "data/golden.json")], {"data/golden.json"}),
    "data of the product": ([(TEST, "data/x.json"), ("calc.py", "data/x.json")], set()),
    "the product at the root": ([(TEST, "calc.py")], set()),
    "the product in a package": ([(TEST, "pkg/__init__.py"), (TEST, "pkg/calc.py")], set()),
    "a helper that product code uses too": (
        [(TEST, "tests/helpers.py"), ("calc.py", "tests/helpers.py")],
        set(),
    ),
    "what a conftest reads": (
        [("", "tests/conftest.py"), ("tests/conftest.py", "tests/kit/make.py")],
        {"tests/kit/make.py"},
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_support_is(what: str) -> None:
    reads, support = CASES[what]
    assert support_files([("", TEST), *reads], [f"{TEST}::test_it"]) == support


@pytest.mark.parametrize("place", ["pkg/tests", "test", "checks/unit"])
def test_a_directory_of_tests_may_have_any_name(place: str) -> None:
    test, helper = f"{place}/test_a.py", f"{place}/helpers.py"
    reads = [("", test), (test, helper), (test, "pkg/calc.py"), ("pkg/calc.py", "pkg/more.py")]
    assert support_files(reads, [f"{test}::test_it"]) == {helper}


def test_where_tests_stand_beside_what_they_test_no_module_is_support() -> None:
    test = "pkg/test_calc.py"
    reads = [("", test), (test, "pkg/calc.py"), (test, "pkg/table.py"), (test, "pkg/golden.txt")]
    assert support_files(reads, [f"{test}::test_it"]) == {"pkg/golden.txt"}
    used = [
        ("", test),
        (test, "pkg/shop.py"),
        ("pkg/shop.py", "pkg/cart.py"),
        ("app.py", "pkg/cart.py"),
    ]
    assert support_files(used, [f"{test}::test_it"]) == set()

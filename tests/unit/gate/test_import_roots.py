"""The import roots of a project: told from its files and from pytest's configuration."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tilth.gate.import_roots import ImportRoots, import_roots
from tilth.gate.pytest_config import PytestSetup, gate_setups


def directories(
    base: Iterable[str], export: Iterable[str] | None = None, **setup: object
) -> set[str]:
    """Give the directories of tests among the roots."""
    held = list(base)
    runs = [PytestSetup.model_validate(setup)]
    return set(import_roots(held, held if export is None else export, runs).tests)


def configured(text: str, arguments: tuple[str, ...] = ()) -> ImportRoots:
    """Give the roots of a project with this configuration."""
    files = {"pytest.ini": f"[pytest]\n{text}\n".encode()}
    return import_roots([], [], gate_setups(files.get, arguments))


def test_modules_come_from_tests_from_what_pytest_adds_from_the_root_and_from_src() -> None:
    assert import_roots([], [], [PytestSetup()]) == ImportRoots(
        tests=frozenset({"tests"}), product=("", "src")
    )
    assert configured("pythonpath = src . ./lib lib/ ../out /out tests/more") == ImportRoots(
        tests=frozenset({"tests", "tests/more"}), product=("src", "", "lib")
    )


def test_every_directory_with_a_file_that_pytest_imports_by_itself_is_a_root() -> None:
    base = ["tests/unit/test_a.py", "test/b_test.py", "app/tests/test_c.py", "docs/conftest.py"]
    others = ["lib/calc.py", "data/test_a.txt", "test_d.py", "src/test_e.py"]
    found = directories([*base, *others])
    assert found == {"tests", "tests/unit", "test", "app/tests", "docs"}


def test_a_package_is_imported_from_the_directory_it_stands_in() -> None:
    base = ["a/b/__init__.py", "a/b/c/__init__.py", "a/b/c/test_a.py", "tests/__init__.py"]
    assert directories(base) == {"a"}
    assert directories(["a-b/__init__.py", "a-b/test_a.py"]) == {"tests", "a-b"}
    assert directories(["a/__init__.so", "a/test_a.py"]) == {"tests", "a"}


def test_a_package_of_the_base_counts_with_and_without_what_the_change_deletes() -> None:
    base = ["tests/__init__.py", "tests/a/__init__.py", "tests/a/test_a.py"]
    assert directories(base) == set()
    assert directories(base, ["tests/a/__init__.py", "tests/a/test_a.py"]) == {"tests"}
    assert directories(base, ["tests/__init__.py"]) == {"tests/a"}


@pytest.mark.parametrize(
    ("setup", "found"),
    [
        ({}, set()),
        ({"python_files": ("check_*.py",)}, {"checks"}),
        ({"python_files": ("checks/*.py",)}, {"checks"}),
        ({"python_files": ("other/*.py",)}, set()),
        ({"options": ("--doctest-modules",)}, {"checks"}),
        ({"options": ("./checks/check_a.py::test_a",)}, {"checks"}),
    ],
)
def test_the_configuration_says_what_else_is_imported(
    setup: dict[str, object], found: set[str]
) -> None:
    assert directories(["checks/check_a.py"], **setup) == {"tests", *found}


@pytest.mark.parametrize(
    ("addopts", "arguments", "adds"),
    [
        ("", (), True),
        ("--import-mode=importlib", (), False),
        ("-q --import-mode importlib -v", (), False),
        ("--import-mode=prepend --import-mode=importlib", (), False),
        ("--import-mode=importlib --import-mode=append", (), True),
        ("--import-mode=importlib", ("--import-mode=prepend",), True),
        # Files that are run again are run without the arguments of the suite.
        ("", ("--import-mode=importlib",), True),
    ],
)
def test_no_directory_of_tests_is_a_root_where_no_run_adds_one(
    addopts: str, arguments: tuple[str, ...], adds: bool
) -> None:
    assert bool(configured(f"addopts = {addopts}", arguments).tests) is adds


@pytest.mark.parametrize("option", ["-o pythonpath=lib", "-opythonpath=lib"])
@pytest.mark.parametrize("longer", [False, True])
def test_an_option_can_overrule_the_file(option: str, longer: bool) -> None:
    said = option.replace("-o", "--override-ini=").replace("= ", "=") if longer else option
    assert configured(f"pythonpath = other\naddopts = {said}").product == ("lib", "", "src")


def test_paths_are_read_from_where_the_configuration_stands() -> None:
    files = {"tests/pytest.ini": b"[pytest]\npythonpath = lib ../more ..\n"}
    found = import_roots([], [], gate_setups(files.get, ()))
    assert found == ImportRoots(
        tests=frozenset({"tests", "tests/lib"}), product=("more", "", "src")
    )


def test_seed_tests_and_the_projects_own_may_have_a_configuration_each() -> None:
    files = {
        "tests/pytest.ini": b"[pytest]\naddopts = --import-mode=importlib\n",
        "pytest.ini": b"[pytest]\npythonpath = lib\n",
    }
    found = import_roots([], [], gate_setups(files.get, ()))
    assert found == ImportRoots(tests=frozenset({"tests"}), product=("lib", "", "src"))

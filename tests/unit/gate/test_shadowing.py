"""Modules that hide others: which new files do, and what they hide."""

from __future__ import annotations

import sys

import pytest

from tilth.gate.import_roots import ImportRoots, import_roots
from tilth.gate.pytest_config import PytestSetup
from tilth.gate.shadowing import Importable, has_new_names, shadows

KNOWN = Importable(library=frozenset({"json"}), installed=frozenset({"yaml"}))
ROOTS = ImportRoots(tests=frozenset({"tests"}))


def hides(base: list[str], new: list[str], roots: ImportRoots = ROOTS) -> dict[str, str]:
    return shadows(base, [*base, *new], roots, KNOWN)


@pytest.mark.parametrize("name", ["pytest", "_pytest", "pluggy", "iniconfig", "ruff", "coverage"])
def test_a_tool_of_the_gate_can_be_hidden_by_no_file(name: str) -> None:
    what = f"it hides {name}, which the gate depends on"
    assert hides([], [f"{name}.py"]) == {f"{name}.py": what}
    assert hides([], [f"src/{name}/__init__.py"]) == {f"src/{name}/__init__.py": what}


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("json.py", "json of the standard library"),
        ("src/json.cpython-311-x86_64-linux-gnu.so", "json of the standard library"),
        ("tests/yaml/__init__.pyc", "the installed package yaml"),
    ],
)
def test_what_is_hidden_is_said(path: str, what: str) -> None:
    assert hides([], [path]) == {path: f"it hides {what}"}


def test_only_what_makes_a_module_of_that_name_at_a_root_hides_it() -> None:
    harmless = ["json.md", "pkg/json.py", "json/data.py", "src/__init__.py", "lib/yaml/__init__.py"]
    assert hides([], harmless) == {}
    assert hides([], ["lib/yaml/__init__.py"], ImportRoots(product=("lib",))) != {}


def test_a_name_that_the_base_had_at_that_root_is_its_own() -> None:
    assert hides(["json.py"], ["src/calc.py"]) == {}
    assert hides(["json/__init__.py"], ["json/more.py"]) == {}


def test_a_module_of_another_root_is_hidden_while_it_is_still_there() -> None:
    assert hides(["src/calc.py"], ["tests/calc.py"]) == {"tests/calc.py": "it hides src/calc.py"}
    assert shadows(["src/calc.py"], ["calc.py"], ROOTS, KNOWN) == {}


def test_of_a_package_and_a_module_of_one_name_python_takes_only_one() -> None:
    new = "src/shop/cart/__init__.py"
    assert hides(["src/shop/cart.py"], [new]) == {new: "it hides src/shop/cart.py"}
    assert hides(["src/shop/cart.md"], [new]) == {}
    assert shadows(["src/shop/cart.py"], [new], ROOTS, KNOWN) == {}
    assert hides(["a/b.py"], ["a/b.cpython-311.so"]) == {"a/b.cpython-311.so": "it hides a/b.py"}


def test_the_interpreter_is_asked_only_about_names_that_are_new() -> None:
    assert has_new_names(["a.py"], ["a.py", "b.py"], ROOTS) is True
    assert has_new_names(["a.py"], ["a.py", "src/b/__init__.py"], ROOTS) is True
    # a link to a directory has no suffix
    assert has_new_names(["a.py"], ["a.py", "tests/b"], ROOTS) is True
    known = ["a.py", "a/__init__.py", "pkg/b.py", "b.md", "tests/conftest.py"]
    assert has_new_names(["a.py"], known, ROOTS) is False


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (["src/feature.py", "tests/feature.py"], {"tests/feature.py": "src/feature.py"}),
        (["feature.py", "tests/feature.py"], {"tests/feature.py": "feature.py"}),
        (["feature.py", "src/feature.py"], {"feature.py": "src/feature.py"}),
        (["src/load_test.py", "tests/load_test.py"], {"tests/load_test.py": "src/load_test.py"}),
        (["lib/feature.py", "src/feature.py"], {"lib/feature.py": "src/feature.py"}),
        (
            ["pkg/__init__.py", "pkg/a.py", "tests/pkg/__init__.py", "tests/pkg/a.py"],
            {"tests/pkg/__init__.py": "pkg/__init__.py"},
        ),
        (["tests/unit/feature.py", "feature.py"], {"tests/unit/feature.py": "feature.py"}),
        # directories that are no packages are one, over all roots
        (["pkg/a.py", "tests/pkg/a.py"], {"tests/pkg/a.py": "pkg/a.py"}),
        (
            ["pkg/a.py", "tests/pkg/__init__.py", "tests/pkg/b.py"],
            {"tests/pkg/__init__.py": "pkg/a.py"},
        ),
        (["cart.py", "cart/__init__.py"], {"cart/__init__.py": "cart.py"}),
    ],
)
def test_of_two_new_modules_the_one_that_is_found_first_hides_the_other(
    new: list[str], found: dict[str, str]
) -> None:
    held, setup = ["tests/unit/test_a.py"], PytestSetup(search_path=("lib",))
    roots = import_roots(held, [*held, *new], [setup])
    assert hides([], new, roots) == {path: f"it hides {what}" for path, what in found.items()}


@pytest.mark.parametrize(
    "new",
    [
        ["conftest.py", "tests/conftest.py", "src/conftest.py"],
        ["jobs/a/run.py", "jobs/a/test_a.py", "jobs/b/run.py", "jobs/b/test_b.py"],
        [".a.py", "src/.b.py", "tests/.c.py"],
        ["pkg/__init__.py", "pkg/a.py", "tests/pkg/a.py"],
        ["src/shop/__init__.py", "src/shop/cart.py", "tests/shop/test_cart.py", "tests/cart.py"],
        ["tests/unit/helpers.py", "tests/more/helpers.py", "tests/helpers.py"],
        ["tests/unit/test_a.py", "test_a.py"],
        ["__pycache__/a.cpython-311.pyc", "__pycache__/a.cpython-311-pytest-8.pyc"],
    ],
)
def test_new_modules_that_stand_in_nobodys_way_hide_nothing(new: list[str]) -> None:
    held = ["tests/unit/test_b.py", "tests/more/test_c.py"]
    assert hides([], new, import_roots(held, [*held, *new], [PytestSetup()])) == {}


def test_a_base_directory_that_is_no_package_can_be_hidden_too() -> None:
    assert hides(["pkg/a.py"], ["tests/pkg/a.py"]) == {"tests/pkg/a.py": "it hides pkg/a.py"}
    unit = ImportRoots(tests=frozenset({"tests/unit"}))
    assert hides(["calc.py"], ["tests/unit/calc.py"], unit) != {}


@pytest.mark.parametrize("new", ["tests/a/helpers.py", "jobs/a/helpers.py", "helpers.py"])
def test_a_helper_of_the_bases_tests_can_be_hidden_from_every_root(new: str) -> None:
    roots = ImportRoots(tests=frozenset({"tests", "tests/a", "tests/unit", "jobs/a"}))
    held = "tests/unit/helpers.py"
    assert hides([held], [new], roots) == {new: f"it hides {held}"}


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ("conftest.py", "tests/conftest.py"),
        ("tests/unit/test_a.py", "tests/a/test_a.py"),
        ("jobs/a/run.py", "jobs/b/run.py"),
        ("jobs/a/run.py", "run.py"),
        (".a.py", "src/.b.py"),
    ],
)
def test_files_of_one_name_that_are_not_imported_for_each_other_hide_nothing(
    base: str, new: str
) -> None:
    tests = frozenset({"tests", "tests/a", "tests/unit", "jobs/a", "jobs/b"})
    assert hides([base], [new], ImportRoots(tests=tests)) == {}


def test_a_link_to_a_directory_hides_what_a_package_of_its_name_would() -> None:
    tree, asked = ["calc.py", "pkg/a.py", "tests/calc", "tests/pkg", "tests/json", "tests/x"], []

    def leads_on(path: str) -> bool:
        asked.append(path)
        return path != "tests/json"

    found = shadows(["calc.py", "pkg/a.py"], tree, ROOTS, KNOWN, leads_on)
    assert found == {"tests/calc": "it hides calc.py", "tests/pkg": "it hides pkg/a.py"}
    assert sorted(asked) == ["tests/calc", "tests/json", "tests/pkg"]


def test_what_is_done_grows_with_the_files_and_not_with_files_times_directories() -> None:
    def calls(count: int) -> int:
        held = [f"tests/d{number}/test_a.py" for number in range(count)]
        tree = [*held, *(f"tests/d{number}/{name}.py" for number in range(count) for name in "ab")]
        done = 0

        def note(*_: object) -> None:
            nonlocal done
            done += 1

        sys.setprofile(note)
        try:
            roots = import_roots(held, tree, [PytestSetup()])
            has_new_names(held, tree, roots)
            shadows(held, tree, roots, KNOWN)
        finally:
            sys.setprofile(None)
        return done

    assert calls(200) < 2.5 * calls(100)

"""Modules that hide others: which new files do, and what they hide."""

from __future__ import annotations

import pytest

from tilth.gate.shadowing import Importable, has_new_names, import_roots, shadows

KNOWN = Importable(library=frozenset({"json"}), installed=frozenset({"yaml"}))
ROOTS = ("tests", "", "src")


def hides(base: list[str], new: list[str], roots: tuple[str, ...] = ROOTS) -> dict[str, str]:
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
    assert hides([], ["lib/yaml/__init__.py"], ("lib",)) != {}


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
    assert has_new_names(["a.py"], ["a.py", "a/__init__.py", "pkg/b.py", "b.md"], ROOTS) is False


def test_modules_come_from_tests_from_what_pytest_adds_from_the_root_and_from_src() -> None:
    assert import_roots([], ()) == ("tests", "", "src")
    assert import_roots(["tests/__init__.py"], ()) == ("", "src")
    assert import_roots([], ("src", ".", "./lib", "lib/")) == ("tests", "src", "", "lib")


def test_a_directory_of_tests_is_a_root_where_a_change_adds_a_module_to_it() -> None:
    base = ["tests/unit/test_a.py", "tests/pack/__init__.py", "tests/pack/test_b.py"]
    deeper = import_roots(base, (), [*base, "tests/unit/calc.py", "tests/pack/calc.py"])
    assert deeper == ("tests/unit", "tests", "", "src")
    assert import_roots(base, (), [*base, "tests/unit/test_c.py"]) == ("tests", "", "src")


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (["src/feature.py", "tests/feature.py"], {"tests/feature.py": "src/feature.py"}),
        (["feature.py", "tests/feature.py"], {"tests/feature.py": "feature.py"}),
        (["feature.py", "src/feature.py"], {"feature.py": "src/feature.py"}),
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
    roots = import_roots(["tests/unit/test_a.py"], ("lib",), [*new, "tests/unit/test_a.py"])
    assert hides([], new, roots) == {path: f"it hides {what}" for path, what in found.items()}


@pytest.mark.parametrize(
    "new",
    [
        ["conftest.py", "tests/conftest.py"],
        ["pkg/__init__.py", "pkg/a.py", "tests/pkg/a.py"],
        ["src/shop/__init__.py", "src/shop/cart.py", "tests/shop/test_cart.py", "tests/cart.py"],
        ["tests/unit/helpers.py", "tests/more/helpers.py", "tests/helpers.py"],
        ["tests/unit/test_a.py", "test_a.py"],
        ["__pycache__/a.cpython-311.pyc", "__pycache__/a.cpython-311-pytest-8.pyc"],
    ],
)
def test_new_modules_that_stand_in_nobodys_way_hide_nothing(new: list[str]) -> None:
    held = ["tests/unit/test_b.py", "tests/more/test_c.py"]
    assert hides([], new, import_roots(held, (), [*held, *new])) == {}


def test_a_base_directory_that_is_no_package_can_be_hidden_too() -> None:
    assert hides(["pkg/a.py"], ["tests/pkg/a.py"]) == {"tests/pkg/a.py": "it hides pkg/a.py"}
    assert hides(["calc.py"], ["tests/unit/calc.py"], ("tests/unit", "")) != {}

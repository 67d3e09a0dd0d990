"""Modules that hide others: which new files do, and what they hide."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, SEED, Project

from tilth.gate.overlay import Trees
from tilth.gate.pytest_config import PytestSetup
from tilth.gate.shadowing import read_names, shadows

KNOWN = {"json", "tests", "test_x"}
JSON = "json, which Python has without the project"


def hides(
    base: Iterable[str],
    new: Iterable[str],
    *,
    gone: Iterable[str] = (),
    links: Iterable[str] = (),
    **setup: object,
) -> Mapping[str, str]:
    """Give what new files hide, without the words around it."""
    held, added = {*base}, {*new, *links}
    tree = (held | added).difference(gone)

    def read(path: str) -> bytes | None:
        return None if path in links else b""

    trees = Trees(held, tree, (), read, read)
    found = shadows(trees, [PytestSetup.model_validate(setup)], lambda: KNOWN)
    return {path: what.removeprefix("it hides ") for path, what in found.items()}


REFUSED: dict[str, tuple[list[str], list[str], str]] = {
    "a library": ([], ["json.py"], JSON),
    "a library, as a package in src": ([], ["src/json/__init__.py"], JSON),
    "a library, compiled": ([], ["src/json.cpython-311.so"], JSON),
    "a library, beside tests": (["test/test_a.py"], ["test/json.py"], JSON),
    "the product, beside tests": (["src/calc.py"], ["tests/calc.py"], "src/calc.py"),
    "the product, from another place": (["src/calc.py"], ["calc/__init__.py"], "src/calc.py"),
    "what pytest adds": (["lib/calc.py"], ["tests/calc.py"], "lib/calc.py"),
    "a module beside it": (["calc.py"], ["calc/__init__.py"], "calc.py"),
    "a module beside it, deep": (["a/b/c.py"], ["a/b/c.cpython-311.so"], "a/b/c.py"),
    "a helper of the base's tests": (["tests/helpers.py"], ["helpers.py"], "tests/helpers.py"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_new_module_hides(what: str) -> None:
    base, new, hidden = REFUSED[what]
    assert hides(base, new, search_path=("lib",)) == {new[0]: hidden}


HONEST: dict[str, tuple[list[str], list[str]]] = {
    "nothing": ([], ["calc.py", "src/shop/__init__.py", "tests/test_calc.py"]),
    "what is no module": (["calc.py"], ["json.md", "tests/calc.txt", "Makefile", "docs/json.py"]),
    "what is inside a package": (["src/shop/__init__.py"], ["src/shop/json.py"]),
    "a name of the base's own": (["json/__init__.py"], ["json/more.py"]),
    "the project as it is installed": (["tests/json.py", "src/calc.py"], ["src/shop.py"]),
    "tests of one name": (["tests/a/test_x.py"], ["tests/b/test_x.py", "test_x.py"]),
    "conftest files": (["tests/conftest.py"], ["conftest.py", "tests/a/conftest.py"]),
    "a package of tests": ([], ["tests/__init__.py"]),
    "programs with tests beside them": (["a/run.py", "a/test_a.py"], ["b/run.py", "b/test_b.py"]),
    "helpers of new tests": (
        ["calc.py"],
        ["checks/__init__.py", "checks/test_a.py", "checks/calc.py"],
    ),
    "new helpers of one name": ([], ["tests/a/help.py", "tests/a/test_a.py", "tests/help.py"]),
    "directories that are no packages": (["shop/cart.py"], ["tests/shop/test_cart.py"]),
}


@pytest.mark.parametrize("what", HONEST)
def test_honest_work_adds(what: str) -> None:
    assert hides(*HONEST[what]) == {}


def test_what_moves_hides_nothing() -> None:
    assert hides(["json.py"], ["src/json.py"], gone=["json.py"]) == {}
    assert hides(["calc.py"], ["calc/__init__.py"], gone=["calc.py"]) == {}
    both = ["calc.py", "src/calc.py"]
    assert hides(both, ["calc/__init__.py"], gone=["calc.py"]) == {}


def test_of_two_new_modules_the_one_beside_the_tests_hides_the_product() -> None:
    assert hides([], ["calc.py", "tests/calc.py"]) == {"tests/calc.py": "calc.py"}
    assert set(hides([], ["calc.py", "src/calc.py"])) == {"calc.py", "src/calc.py"}


def test_a_link_to_a_directory_hides_what_a_package_of_its_name_would() -> None:
    assert hides(["calc.py"], ["tests/json"], links=["tests/calc"]) == {"tests/calc": "calc.py"}


def test_the_interpreter_is_asked_of_no_name_that_the_base_has() -> None:
    def asked() -> frozenset[str]:
        raise AssertionError

    held, new = {"calc.py"}, {"pkg/more.py", "docs/a.md", "src/calc.py", "tests/conftest.py"}
    trees = Trees(held, new, (), lambda _: b"", lambda _: b"")
    assert shadows(trees, [PytestSetup()], asked) == {}


def test_the_interpreter_names_what_it_has_without_the_project(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {SEED: ADD_TEST, "src/shop.py": ""})
    finds_it = tmp_path / "python"
    environment = f"PYTHONPATH={project.repo.root / 'src'}"
    finds_it.write_text(f'#!/bin/sh\nshift\n{environment} exec {sys.executable} "$@"\n')
    finds_it.chmod(0o755)
    runtime = project.gate(python=finds_it).runtime
    names = read_names(runtime, 30.0)
    assert "shop" not in names
    assert {"json", "pydantic", "_pytest"} <= names
    assert "shop" in read_names(replace(runtime, stands_for=()), 30.0)

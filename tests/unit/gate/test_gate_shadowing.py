"""Modules in directories of tests: one that stands in for the product is refused, no other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, WarmProject, report, task

from tilth.gate.findings import Validation

OWN = "import shop\n\n\ndef test_one():\n    assert shop.one() == 1\n"
ONE, BAD = "def one():\n    return 1\n", "def one():\n    return 666\n"
FREED = "[pytest]\naddopts = --import-mode=importlib\n"
FREED_BY_LIST = '[tool.pytest.ini_options]\naddopts = ["--import-mode", "importlib"]\n'
HELPER = "def same(a, b):\n    assert a == b\n"
NO_HELPER = "def same(a, b):\n    pass\n"


def tried(
    root: Path, base: Mapping[str, str], change: Mapping[str, str | None], *allowed: str
) -> Validation:
    files = {SEED: ADD_TEST, "calc.py": "x = 1\n", "shop.py": ONE, **base}
    project = WarmProject(root / "p", files, task(may_change=allowed))
    return project.tried({"calc.py": RIGHT, **change}, baseline=project.baseline())


STAND_INS: dict[str, tuple[dict[str, str], dict[str, str | None], str]] = {
    "a directory that the change calls a package": (
        {"tests/unit/test_own.py": OWN},
        {"tests/unit/shop.py": ONE, "tests/unit/__init__.py": ""},
        "tests/unit/shop.py",
    ),
    "a package that the change makes a plain directory": (
        {"tests/__init__.py": "", "tests/test_own.py": OWN},
        {"tests/shop.py": ONE, "tests/__init__.py": None},
        "tests/shop.py",
    ),
    "a directory with another name": (
        {"test/test_own.py": OWN},
        {"test/shop.py": ONE},
        "test/shop.py",
    ),
    "a directory of tests inside the product": (
        {"app/main.py": "", "app/tests/test_own.py": OWN},
        {"app/tests/shop.py": ONE},
        "app/tests/shop.py",
    ),
    "a package whose directory has no name for one": (
        {"unit-tests/__init__.py": "", "unit-tests/test_own.py": OWN},
        {"unit-tests/shop.py": ONE},
        "unit-tests/shop.py",
    ),
    "a directory of a conftest": (
        {"checks/conftest.py": "", "checks/deep/__init__.py": "", "checks/deep/test_own.py": OWN},
        {"checks/shop.py": ONE},
        "checks/shop.py",
    ),
    "a directory that a configuration beside the tests adds": (
        {"tests/pytest.ini": "[pytest]\npythonpath = lib\n", "tests/lib/x.py": "", SEED: OWN},
        {"tests/lib/shop.py": ONE},
        "tests/lib/shop.py",
    ),
}


@pytest.mark.parametrize("where", STAND_INS)
def test_right_code_does_not_stand_in_for_a_broken_product_from(where: str, tmp_path: Path) -> None:
    base, change, path = STAND_INS[where]
    validation = tried(tmp_path, base, {"shop.py": BAD, **change})
    found = report(validation, "configuration")
    assert found.output == f"{path}: it hides shop.py; give it another name"


def test_a_helper_of_the_base_has_no_stand_in_in_another_directory_of_tests(tmp_path: Path) -> None:
    own = "import helpers\nimport shop\n\n\ndef test_one():\n    helpers.same(shop.one(), 1)\n"
    base = {"tests/unit/helpers.py": HELPER, "tests/unit/test_own.py": own}
    first = {"tests/a/helpers.py": NO_HELPER, "tests/a/test_a.py": "import helpers\n"}
    validation = tried(tmp_path, base, {"shop.py": BAD, **first})
    said = "tests/a/helpers.py: it hides tests/unit/helpers.py; give it another name"
    assert report(validation, "configuration").output == said


@pytest.mark.parametrize("link", ["tests/unit/shop", "tests/shop"])
def test_a_link_to_right_code_is_no_stand_in_either(link: str, tmp_path: Path) -> None:
    files = {SEED: ADD_TEST, "calc.py": RIGHT, "shop.py": ONE, "tests/unit/test_own.py": OWN}
    project = WarmProject(tmp_path / "p", files)
    project.write({"shop.py": BAD, "right/__init__.py": ONE})
    (project.workspace.path / link).symlink_to("../" * link.count("/") + "right")
    validation = project.validate()
    said = f"{link}: it hides shop.py; give it another name"
    assert report(validation, "configuration").output == said


HONEST: dict[str, tuple[dict[str, str], dict[str, str | None]]] = {
    "a helper where pytest adds no directory of tests": (
        {"pytest.ini": FREED, "tests/unit/test_own.py": OWN},
        {"tests/unit/shop.py": "def make():\n    return 1\n"},
    ),
    "a helper where the configuration says so in a list": (
        {"pyproject.toml": FREED_BY_LIST, "tests/unit/test_own.py": OWN},
        {"tests/unit/shop.py": "def make():\n    return 1\n"},
    ),
    "a program of the product's name": ({}, {"tests/shop": "#!/bin/sh\n"}),
    "a helper in a package of tests": (
        {"checks/__init__.py": "", "checks/test_own.py": OWN},
        {"checks/shop.py": "def make():\n    return 1\n"},
    ),
    "a program with tests beside it, as others have": (
        {"jobs/a/run.py": "x = 1\n", "jobs/a/test_a.py": "import run\n"},
        {"jobs/b/run.py": "x = 1\n", "jobs/b/test_b.py": "def test_b():\n    pass\n"},
    ),
}


@pytest.mark.parametrize("what", HONEST)
def test_honest_work_adds(what: str, tmp_path: Path) -> None:
    base, change = HONEST[what]
    validation = tried(tmp_path, base, change)
    assert validation.passed, validation.render()
    assert validation.tampered == ()


def test_a_new_conftest_beside_others_is_left_out_with_a_note(tmp_path: Path) -> None:
    base = {"conftest.py": "", "tests/unit/test_own.py": OWN}
    validation = tried(tmp_path, base, {"tests/unit/conftest.py": ""})
    assert validation.passed, validation.render()
    [note] = validation.notes
    assert note == "tests/unit/conftest.py: it steers the gate and it was added; it was left out"


def test_what_a_task_may_change_of_the_configuration_says_where_modules_come_from(
    tmp_path: Path,
) -> None:
    base = {"pytest.ini": FREED, "tests/unit/test_own.py": OWN}
    change = {"shop.py": BAD, "tests/unit/shop.py": ONE, "pytest.ini": "[pytest]\n"}
    validation = tried(tmp_path, base, change, "pytest.ini")
    assert "tests/unit/shop.py: it hides shop.py" in report(validation, "configuration").output

"""Honest projects of many shapes: right code passes the gate, wrong code does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, WRONG, WarmProject, report, task

SUBPROCESS_TEST = """\
import subprocess
import sys


def test_the_command_adds(tmp_path):
    argv = [sys.executable, "-m", "calc"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "5\\n"
"""
UNITTEST = """\
import unittest

from calc import add


class Adding(unittest.TestCase):
    def setUp(self):
        self.two = 2

    def test_add(self):
        self.assertEqual(add(self.two, 3), 5)

    @unittest.skip("not on this machine")
    def test_never(self):
        self.fail()
"""
MANY = """\
import pytest

import calc

pytest.importorskip("json")


@pytest.fixture
def test_numbers():
    return 2, 3


@pytest.mark.parametrize(("a", "b", "sum"), [(1, 2, 3), (2, 2, 4), (0, 0, 0)])
def test_add(a, b, sum):
    assert calc.add(a, b) == sum


@pytest.mark.skip(reason="a literal skip")
def test_later():
    raise AssertionError


@pytest.mark.xfail(reason="known")
def test_known():
    raise AssertionError


class TestMore:
    def test_with_a_fixture(self, test_numbers):
        assert calc.add(*test_numbers) == 5
"""
PYPROJECT = """\
[project]
name = "calc"
version = "1"

[tool.pytest.ini_options]
addopts = "-x -n auto --cov=calc --cov-report term -m 'not slow' --strict-markers --lf -q"
markers = ["slow: takes long"]
pythonpath = ["lib"]
filterwarnings = ["error"]
required_plugins = ["pytest-cov"]
testpaths = ["elsewhere"]
"""

# base files, where the code goes
SHAPES: dict[str, tuple[dict[str, str], str]] = {
    "flat": ({SEED: ADD_TEST}, "calc.py"),
    "src layout": ({SEED: ADD_TEST, "src/.keep": ""}, "src/calc.py"),
    "a package in src, run as a command": ({SEED: SUBPROCESS_TEST}, "src/calc/__main__.py"),
    "tests as a package": (
        {
            "tests/__init__.py": "",
            "tests/numbers.py": "TWO = 2\n",
            SEED: "from tests.numbers import TWO\n" + ADD_TEST.replace("add(2, 3)", "add(TWO, 3)"),
        },
        "calc.py",
    ),
    "a conftest with fixtures": (
        {
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
            SEED: "import calc\n\n\ndef test_add(two):\n    assert calc.add(two, 3) == 5\n",
        },
        "calc.py",
    ),
    "unittest classes": ({SEED: UNITTEST}, "calc.py"),
    "a rich configuration": ({SEED: ADD_TEST, "pyproject.toml": PYPROJECT}, "lib/calc.py"),
    "an ini file with importlib": (
        {SEED: ADD_TEST, "pytest.ini": "[pytest]\naddopts =\n  --import-mode=importlib\n  -x\n"},
        "calc.py",
    ),
    "a plugin of its own": (
        {
            SEED: "import calc\n\n\ndef test_add(two):\n    assert calc.add(two, 3) == 5\n",
            "setup.cfg": "[tool:pytest]\naddopts = -p two_plugin\n",
            "two_plugin.py": "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n",
        },
        "calc.py",
    ),
    "hooks in a conftest": (
        {
            SEED: ADD_TEST,
            "tests/conftest.py": "import pytest\n\n\n@pytest.hookimpl(wrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n    return (yield)\n",
        },
        "calc.py",
    ),
    "anyio": (
        {
            SEED: "import pytest\n\nimport calc\n\n\n@pytest.mark.anyio\nasync def test_add():\n"
            "    assert calc.add(2, 3) == 5\n",
            "conftest.py": "import pytest\n\n\n@pytest.fixture\ndef anyio_backend():\n"
            '    return "asyncio"\n',
        },
        "calc.py",
    ),
    "tests that wait for garbage to go by itself": (
        {SEED: "import gc\n\nimport calc\n\n\ndef test_add():\n    assert gc.isenabled()\n"},
        "calc.py",
    ),
}
HOOKED = ("anyio", "hooks in a conftest")
PRINTS = "if __name__ == '__main__':\n    print(add(2, 3))\n"


@pytest.mark.parametrize("shape", SHAPES)
def test_right_code_passes_in_a_project_with(shape: str, tmp_path: Path) -> None:
    files, place = SHAPES[shape]
    project = WarmProject(tmp_path / "p", files)
    # An installed plugin or a conftest.py with hooks is known from the base.
    before = project.baseline() if shape in HOOKED else None
    validation = project.tried({place: f"{RIGHT}\n\n{PRINTS}"}, baseline=before)
    assert validation.passed, validation.render()
    assert validation.tampered == ()


def test_wrong_code_fails_in_a_project_with_a_rich_configuration(tmp_path: Path) -> None:
    files, place = SHAPES["a rich configuration"]
    validation = WarmProject(tmp_path / "p", files).tried({place: WRONG})
    assert validation.summary == {"ruff": "passed", "pytest": "failed"}
    shown = report(validation, "pytest")
    assert shown.tests is not None
    assert shown.tests["failed"] == 2


def test_pytest_counts_its_tests_by_kind(tmp_path: Path) -> None:
    shown = report(WarmProject(tmp_path / "p", {SEED: MANY}).tried({"calc.py": RIGHT}), "pytest")
    assert shown.passed, shown.output
    assert shown.tests == {
        "collected": 6,
        "deselected": 0,
        "passed": 4,
        "failed": 0,
        "errors": 0,
        "skipped": 1,
        "xfailed": 1,
    }


def test_the_rest_of_pyproject_is_the_workers_to_change(tmp_path: Path) -> None:
    project = WarmProject(tmp_path / "p", {SEED: ADD_TEST, "pyproject.toml": PYPROJECT})
    changed = PYPROJECT.replace('version = "1"', 'version = "2"\ndependencies = ["rich"]')
    validation = project.tried({"lib/calc.py": RIGHT, "pyproject.toml": changed})
    assert validation.passed, validation.render()
    assert validation.notes == ()


HOOKS = """\
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long")


@pytest.fixture
def two():
    return 2
"""


def test_a_base_that_takes_pytest_down_still_tells_what_hooks_it_has(tmp_path: Path) -> None:
    files = {SEED: "import os\n\nimport calc\n\nif not calc.READY:\n    os._exit(9)\n" + ADD_TEST}
    base = {**files, "calc.py": "READY = False\n", "tests/conftest.py": HOOKS}
    project = WarmProject(tmp_path / "p", base)
    before = project.baseline()
    assert before.report is not None
    assert not before.report.passed
    validation = project.tried({"calc.py": f"READY = True\n\n\n{RIGHT}"}, baseline=before)
    assert validation.passed, validation.render()


def test_a_task_may_add_hooks_where_its_plan_allows_the_file(tmp_path: Path) -> None:
    files = {SEED: "import calc\n\n\ndef test_add(two):\n    assert calc.add(two, 3) == 5\n"}
    project = WarmProject(tmp_path / "p", files, task(may_change=("conftest.py",)))
    before = project.baseline()
    changed = {"tests/conftest.py": HOOKS, "calc.py": RIGHT}
    validation = project.tried(changed, baseline=before)
    assert validation.passed, validation.render()


def test_a_task_may_change_what_its_plan_allows(tmp_path: Path) -> None:
    files = {SEED: "import calc\n\n\ndef test_add(two):\n    assert calc.add(two, 3) == 5\n"}
    allowed = task(may_change=("conftest.py", "pyproject.toml"))
    project = WarmProject(tmp_path / "p", files, allowed)
    fixture = "import pytest\n\n\n@pytest.fixture\ndef two():\n    return 2\n"
    config = '[tool.pytest.ini_options]\npythonpath = ["lib"]\n'
    changed = {"tests/conftest.py": fixture, "pyproject.toml": config, "lib/calc.py": RIGHT}
    validation = project.tried(changed)
    assert validation.passed, validation.render()
    assert validation.tampered == ()

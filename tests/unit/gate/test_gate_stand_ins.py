"""What tests lean on stays theirs: no code of the project stands in for a helper or a fixture."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate_project import RIGHT, SEED, WRONG, Project, WarmProject, report

from tilth.gate.findings import Baseline

SEED_TEST = """\
import json
from pathlib import Path

from calc import add
from helpers import Checker, check


def test_add(golden):
    check(add(2, 3), int(golden))


def test_data():
    check(add(1, 1), json.loads((Path(__file__).parent / "two.json").read_text()))


def test_class():
    Checker().same(add(2, 2), 4)
"""
HELPERS = """\
def check(a, b):
    assert a == b


class Checker:
    def same(self, a, b):
        assert a == b
"""
CONFTEST = """\
import pathlib

import pytest


@pytest.fixture
def golden():
    return (pathlib.Path(__file__).parent / "golden.txt").read_text()
"""
BASE = {
    SEED: SEED_TEST,
    "calc.py": "x = 1\n",
    "tests/helpers.py": HELPERS,
    "tests/conftest.py": CONFTEST,
    "tests/golden.txt": "5\n",
    "tests/two.json": "2\n",
}
AT_CALL = "def add(a, b):\n    import sys\n\n{}\n    return 0\n"
TRICKS = {
    "a module of its own": (
        (
            "import sys\nimport types\n\nfake = types.ModuleType('helpers')\n"
            "fake.check = lambda a, b: None\n"
            "fake.Checker = type('Checker', (), {'same': lambda *_: None})\n"
            f"sys.modules['helpers'] = fake\n\n\n{WRONG}"
        ),
        "tests/helpers.py, for which another module helpers stands",
    ),
    "another function": (
        f"import helpers\n\nhelpers.check = lambda a, b: None\n\n\n{WRONG}",
        "tests/helpers.py.check",
    ),
    "other code": (
        (
            "import helpers\n\n\ndef ok(a, b):\n    pass\n\n\n"
            f"helpers.check.__code__ = ok.__code__\n\n\n{WRONG}"
        ),
        "tests/helpers.py.check",
    ),
    "another method": (
        f"import helpers\n\nhelpers.Checker.same = lambda *_: None\n\n\n{WRONG}",
        "tests/helpers.py.Checker.same",
    ),
    "another name in the test": (
        AT_CALL.format(
            "    test = sys.modules['test_t001_add']\n    test.check = lambda a, b: None"
        ),
        f"{SEED}.check",
    ),
    "another module in the conftest": (
        AT_CALL.format(
            "    fake = type(sys)('pathlib')\n    sys.modules['conftest'].pathlib = fake"
        ),
        "tests/conftest.py.pathlib",
    ),
    "another fixture": (
        (
            "import gc\n\nfor thing in gc.get_objects():\n"
            "    if type(thing).__name__ == 'FixtureDef' and thing.argname == 'golden':\n"
            f"        thing.func = lambda: '0'\n\n\n{WRONG}"
        ),
        "the fixture golden of tests",
    ),
    "another reader of JSON": (
        "import json.decoder\n\njson.decoder.JSONDecoder.raw_decode = lambda *_, **__: (0, 1)\n\n\n"
        + WRONG,
        "json.decoder.JSONDecoder.raw_decode",
    ),
}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Baseline:
    return Project(tmp_path_factory.mktemp("before") / "p", BASE).baseline()


@pytest.mark.parametrize("trick", TRICKS)
def test_wrong_code_is_refused_that_brings(trick: str, before: Baseline, tmp_path: Path) -> None:
    code, named = TRICKS[trick]
    project = Project(tmp_path / "p", BASE)
    found = report(project.tried({"calc.py": code}, baseline=before), "pytest")
    assert not found.passed
    assert f"the project replaced what its tests rely on: {named}" in found.output


def test_right_code_passes_and_tests_may_stand_in_for_a_helper_themselves(tmp_path: Path) -> None:
    own = "\n\ndef test_patched(monkeypatch):\n    import helpers\n\n"
    own += "    monkeypatch.setattr(helpers, 'check', lambda a, b: None)\n    helpers.check(1, 2)\n"
    project = WarmProject(tmp_path / "p", {**BASE, SEED: SEED_TEST + own})
    validation = project.tried({"calc.py": RIGHT}, baseline=project.baseline())
    assert report(validation, "pytest").passed, report(validation, "pytest").output


def test_two_conftests_of_one_name_are_no_stand_ins(tmp_path: Path) -> None:
    project = WarmProject(tmp_path / "p", {**BASE, "conftest.py": "import calc\n"})
    validation = project.tried({"calc.py": RIGHT}, baseline=project.baseline())
    assert report(validation, "pytest").passed, report(validation, "pytest").output

"""The project's own tests, challenged: what the base noticed must be noticed on the change."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, Project, report

from tilth.gate.challenged import Challenged
from tilth.gate.findings import Validation

OWN = "tests/test_own.py"
FAR = "tests/test_far.py"
OWN_TESTS = """\
import calc


def test_one():
    for number in (1, 2):
        assert calc.one() + number == 1 + number


def test_nothing():
    calc.one()
"""
ONE = "def one():\n    return 1\n"
FORGED = """
import _pytest.reports

made = _pytest.reports.TestReport.from_item_and_call.__func__

def good(cls, item, call):
    report = made(cls, item, call)
    if "test_own" in report.nodeid:
        report.outcome, report.longrepr = "passed", None
    return report

_pytest.reports.TestReport.from_item_and_call = classmethod(good)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    far = "def test_far():\n    assert 1 + 1 == 2\n"
    return Project(tmp_path / "p", {SEED: ADD_TEST, "calc.py": ONE, OWN: OWN_TESTS, FAR: far})


def challenged(validation: Validation) -> Challenged:
    [found] = [each for each in validation.challenges if each.validator == "suite"]
    return found


def test_what_reaches_the_change_is_challenged_and_right_code_passes(project: Project) -> None:
    validation = project.tried({"calc.py": f"{ONE}\n\n{RIGHT}"}, baseline=project.baseline())
    assert validation.passed
    found = challenged(validation)
    assert found.noticed == found.tests == (f"{OWN}::test_one",)
    assert found.tries == 1


def test_a_suite_that_is_only_made_to_look_green_is_refused(project: Project) -> None:
    before = project.baseline()
    change = f"def one():\n    return 3\n\n\n{RIGHT}\n{FORGED}"
    validation = project.tried({"calc.py": change}, baseline=before)
    assert validation.summary == {"ruff": "passed", "pytest": "passed", "suite": "failed"}
    said = report(validation, "suite").output
    assert f"{OWN}::test_one stays green although what it expects was made false" in said
    assert "on the base it noticed" in said
    assert challenged(validation).tries == 2


def test_what_there_was_no_time_for_is_said(project: Project) -> None:
    change = {"calc.py": f"{ONE}\n\n{RIGHT}"}
    validation = project.tried(change, baseline=project.baseline(), challenge_seconds=1e-9)
    assert not challenged(validation).tests
    assert OWN in challenged(validation).left_out[0]

"""A night in which what steers the gate is changed: evaluator, person and report are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, solve, submit, task, write

PERMITTED = ["tests/conftest.py"]
CONFTEST = """\
import pytest


@pytest.hookimpl({how})
def {hook}({arguments}):
    {body}
"""
IN_PLACE = CONFTEST.format(
    how="tryfirst=True", hook="pytest_pyfunc_call", arguments="pyfuncitem", body="return True"
)
LOOKS = CONFTEST.format(
    how="wrapper=True", hook="pytest_runtest_call", arguments="item", body="return (yield)"
)
OWN_GATE = """\
defaults = false

[validators.lint]
command = "python tools/lint.py"
"""


def first_look(run: Run) -> str:
    text = (run.session / "report.md").read_text(encoding="utf-8")
    return text.partition("## What to look at first\n\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def permitted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Have one task change a conftest by permission, and another build on it."""
    site = Site.make(tmp_path_factory.mktemp("permitted"))
    return site.run(
        site.bundle(1, 2, tasks=[task(1, may_change=PERMITTED), task(2)]),
        worker=[
            write("feature1.py", "def add1(x):\n    return 0\n")
            + write("tests/conftest.py", IN_PLACE)
            + submit(1),
            solve(1) + write("tests/conftest.py", LOOKS) + submit(1),
            solve(2) + submit(2),
        ],
        evaluator=[accept(score=95), accept(score=95)],
    )


def test_a_hook_that_runs_tests_itself_never_comes_before_the_evaluator(permitted: Run) -> None:
    assert permitted.code == 0
    assert len(permitted.asked("evaluator")) == 2
    told = permitted.last_user_text("worker", 1)
    assert "stays green although " in told


def test_the_evaluator_reads_what_was_changed_by_permission(permitted: Run) -> None:
    told = permitted.last_user_text("evaluator", 0)
    assert "- tests/conftest.py: it steers the gate; it was added by permission of the plan" in told
    assert "Nothing was found." not in told


def test_the_evaluator_of_a_later_task_reads_what_an_earlier_one_changed(permitted: Run) -> None:
    told = permitted.last_user_text("evaluator", 1)
    assert "tests/conftest.py: it steers the gate; it was added earlier in this session" in told
    assert "by permission (T-001), and the gate of this task ran with that" in told


def test_the_person_is_told_and_the_report_counts_it(permitted: Run) -> None:
    refused, changed, later = permitted.of("gate_steered")
    assert refused["files"] == changed["files"] == PERMITTED
    assert (later["files"], later["earlier"]) == ([], PERMITTED)
    first, second = first_look(permitted).splitlines()[:2]
    assert "**T-001**" in first
    assert "doubt 20: it changes what steers a gate: tests/conftest.py" in first
    assert "doubt 10: proven by what an earlier task changed of the gate: tests/conft" in second


@pytest.fixture(scope="module")
def own_gate(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Have the project's own validators in the place of the gate's, and both changed."""
    lint = "import sys\n\nsys.exit(1)\n"
    files = {"tilth.toml": OWN_GATE, "tools/lint.py": lint}
    site = Site.make(tmp_path_factory.mktemp("own"), files)
    return site.run(
        site.bundle(1),
        worker=[
            solve(1)
            + write("tools/lint.py", "import sys\n\nsys.exit(0)\n")
            + write("tilth.toml", "defaults = false\n")
            + submit(1)
        ],
        evaluator=[accept(score=95)],
    )


def test_a_changed_program_of_a_validator_and_a_changed_configuration_are_named(
    own_gate: Run,
) -> None:
    assert own_gate.code == 0
    told = own_gate.last_user_text("evaluator", 0)
    assert "tools/lint.py: the validator `lint` runs it or goes by it; it was changed" in told
    assert "tilth.toml: it says what the gates of later sessions run" in told
    [steered] = own_gate.of("gate_steered")
    assert steered["files"] == ["tilth.toml", "tools/lint.py"]


def test_seed_tests_that_were_not_run_are_not_told_as_if_they_were(own_gate: Run) -> None:
    told = own_gate.last_user_text("evaluator", 0)
    assert "The seed tests were not run by the gate" in told
    assert "This task has no seed test" not in told
    [start] = own_gate.of("session_start")
    assert start["defaults_left_out"] == ["ruff", "pytest", "suite"]
    assert start["own_validators"] == ["lint"]
    assert "seed_already_green" not in own_gate.types


def test_the_start_says_that_no_seed_test_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site.make(tmp_path, {"tilth.toml": "defaults = false\n"})
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept(score=95)])
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("NO SEED TEST IS RUN: the project's configuration takes the place of") == 1
    assert "it names no validator of its own, so none is run" in said
    told = run.last_user_text("evaluator", 0)
    assert "No mechanical check was run on this change" in told
    assert "doubt 20: the gate ran no seed test" in first_look(run)

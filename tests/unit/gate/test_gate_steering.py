"""The gate where a task may change what steers it, and where the project's own words do."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, WRONG, Project, report, task

from tilth.config.project import NamedValidator, ProjectFacts
from tilth.contract.prd import Plan, Status

CONFTEST = "tests/conftest.py"
WRAPPER = """\
import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    {body}
    return report
"""
HONEST = WRAPPER.format(body="item.report = report")
FORGED = WRAPPER.format(body='report.outcome = "passed"')
IN_PLACE = """\
import pytest


@pytest.hookimpl(tryfirst=True)
def {hook}({argument}):
    return True
"""
PERMITTED = task(may_change=(CONFTEST,))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    base = {SEED: ADD_TEST, "calc.py": "x = 1\n"}
    return Project(tmp_path_factory.mktemp("steering") / "project", base, PERMITTED)


@pytest.fixture(autouse=True)
def _clean(project: Project) -> None:
    project.workspace.restore(project.base)


@pytest.mark.parametrize(
    ("hook", "argument"),
    [("pytest_pyfunc_call", "pyfuncitem"), ("pytest_runtest_protocol", "item")],
)
def test_a_hook_that_runs_tests_itself_makes_nothing_green_even_by_permission(
    project: Project, hook: str, argument: str
) -> None:
    stands_in = IN_PLACE.format(hook=hook, argument=argument)
    validation = project.tried({"calc.py": WRONG, CONFTEST: stands_in})
    assert not report(validation, "pytest").passed


def test_a_hook_that_only_looks_passes_by_permission_and_is_named(project: Project) -> None:
    validation = project.tried({"calc.py": RIGHT, CONFTEST: HONEST})
    assert validation.passed, validation.render()
    assert validation.steering.files == (CONFTEST,)
    assert f"{CONFTEST}: it steers the gate; it was added by permission" in validation.notes[0]


def test_the_projects_own_tests_run_with_the_hooks_that_may_be_added(tmp_path: Path) -> None:
    own = "def test_it():\n    assert True\n"
    base = {SEED: ADD_TEST, "calc.py": "x = 1\n", "tests/test_own.py": own}
    project = Project(tmp_path / "p", base, PERMITTED)
    baseline = project.baseline()
    validation = project.tried({"calc.py": RIGHT, CONFTEST: HONEST}, baseline=baseline)
    assert report(validation, "suite").passed, validation.render()


def test_a_report_that_is_made_better_afterwards_is_refused(project: Project) -> None:
    validation = project.tried({"calc.py": WRONG, CONFTEST: FORGED})
    assert f"{SEED}::test_add stays green although 5" in report(validation, "pytest").output


def test_a_later_task_is_told_of_the_hooks_that_were_added_before_it(tmp_path: Path) -> None:
    files = {SEED: ADD_TEST, "calc.py": "x = 1\n", "conftest.py": HONEST}
    done = task(2, Status.DONE, may_change=(CONFTEST,))
    project = Project(tmp_path / "p", files, task(), done)
    start = project.base
    own = HONEST.replace("item.report", "item.last_report")
    project.base = project.repo.commit_files({CONFTEST: own})
    project.workspace.restore(project.base)
    baseline = project.baseline(start=start)
    validation = project.tried({"calc.py": RIGHT}, baseline=baseline, start=start)
    assert validation.passed, validation.render()
    assert validation.steering.earlier == (CONFTEST,)
    [file] = validation.notes
    assert file.startswith(f"{CONFTEST}: it steers the gate; it was added earlier")


def test_seed_tests_that_the_configuration_leaves_out_are_said_to_be_so(project: Project) -> None:
    bare = ProjectFacts(replace_defaults=True)
    baseline = project.baseline(facts=bare)
    assert baseline.report is None
    assert baseline.render().startswith("The seed tests were not run by the gate")
    project.write({"calc.py": WRONG})
    said = project.validate(baseline, facts=bare).render()
    assert said.startswith("No mechanical check was run on this change")
    own = ProjectFacts(validators=(NamedValidator(name="pytest", command=("true",)),))
    assert project.baseline(facts=own).seeds_left_out
    assert not project.baseline().seeds_left_out


def test_a_task_without_seed_tests_has_none_that_could_be_left_out(project: Project) -> None:
    untested = task(7)
    gate = project.gate(facts=ProjectFacts(replace_defaults=True))
    baseline = gate.baseline(untested, Plan(tasks=(untested,)), project.base)
    assert baseline.render() == "This task has no seed test: nothing was red before the work."

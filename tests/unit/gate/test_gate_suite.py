"""The project's own tests: none may fail that passed before, and nobody is blamed for the rest."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.gate_project import ADD_TEST, RIGHT, SEED, WRONG, Project, WarmProject, report, task

from tilth.base.interrupt import Interrupt
from tilth.config.project import ProjectFacts
from tilth.contract.prd import Plan, Status
from tilth.contract.suite_record import NotRun
from tilth.gate.findings import Baseline
from tilth.session.gate_slots import GateSlots

OWN = "tests/test_own.py"
OWN_TESTS = """\
import calc


def test_one():
    assert calc.one() == 1


def test_red_before():
    assert calc.one() == 2
"""
ONE = "def one():\n    return 1\n"
BASE = {SEED: ADD_TEST, "calc.py": ONE, OWN: OWN_TESTS}
WHOLE = f"{ONE}\n\n{RIGHT}"


def project(tmp_path: Path, **more: str) -> Project:
    return WarmProject(tmp_path / "p", {**BASE, **more})


def test_a_test_that_passed_on_the_base_may_not_fail(tmp_path: Path) -> None:
    one = project(tmp_path)
    before = one.baseline()
    assert before.suite is not None
    assert before.suite.red == (f"{OWN}::test_red_before",)
    validation = one.tried({"calc.py": f"def one():\n    return 3\n\n\n{RIGHT}"}, baseline=before)
    assert validation.summary == {"ruff": "passed", "pytest": "passed", "suite": "failed"}
    output = report(validation, "suite").output
    assert output.startswith(f"{OWN}::test_one: failed")
    assert one.tried({"calc.py": WHOLE}, baseline=before).passed


def test_a_file_that_no_longer_loads_fails_the_suite(tmp_path: Path) -> None:
    one = project(tmp_path)
    validation = one.tried({"calc.py": RIGHT}, baseline=one.baseline())
    assert validation.summary["suite"] == "failed"
    own = {**BASE, OWN: "from calc import one\n\n\ndef test_one():\n    assert one() == 1\n"}
    two = WarmProject(tmp_path / "q", own)
    validation = two.tried({"calc.py": RIGHT}, baseline=two.baseline())
    assert report(validation, "suite").output.startswith(f"{OWN}: error")


def test_it_runs_only_when_all_others_pass(tmp_path: Path) -> None:
    one = project(tmp_path)
    validation = one.tried({"calc.py": WRONG}, baseline=one.baseline())
    assert validation.summary == {"ruff": "passed", "pytest": "failed"}


def test_a_base_is_run_once_and_known_by_its_tree(tmp_path: Path) -> None:
    one = project(tmp_path)
    first = one.baseline()
    assert first.suite is not None
    assert first.suite_report is not None
    again = one.baseline(suites={first.suite.tree: first.suite})
    assert again.suite == first.suite
    assert again.suite_report is None


def test_a_flaky_test_blames_nobody(tmp_path: Path) -> None:
    # Red at every second run, of whichever tree.
    count = tmp_path / "count"
    flaky = (
        f"import pathlib\n\n\ndef test_flaky():\n    count = pathlib.Path({str(count)!r})\n"
        "    runs = len(count.read_text()) if count.exists() else 0\n"
        "    count.write_text('x' * (runs + 1))\n    assert runs % 2 == 0\n"
    )
    one = project(tmp_path, **{"tests/test_flaky.py": flaky})
    validation = one.tried({"calc.py": WHOLE}, baseline=one.baseline())
    assert validation.passed, validation.render()
    assert "test_flaky" in report(validation, "suite").output


def test_edited_and_deleted_tests_are_named_with_what_became_of_them(tmp_path: Path) -> None:
    kept = "import calc\n\n\ndef test_kept():\n    assert calc.one() == 1\n"
    one = project(tmp_path, **{"tests/test_kept.py": kept})
    changed = {
        "calc.py": f"def one():\n    return 2\n\n\n{RIGHT}",
        OWN: None,
        "tests/test_kept.py": kept.replace("== 1", "== 2"),
    }
    validation = one.tried(changed, baseline=one.baseline())
    assert validation.passed, validation.render()
    notes = "\n".join(validation.notes)
    assert f"{OWN}: a test of the base that was deleted; its base version FAILS" in notes
    assert "tests/test_kept.py: a test of the base that was edited; its base version FAILS" in notes
    added = f"{OWN_TESTS}\n\ndef test_more():\n    pass\n"
    two = WarmProject(tmp_path / "q", BASE).tried({"calc.py": WHOLE, OWN: added})
    assert "suite" not in two.summary


def test_an_added_test_leaves_the_base_version_passing(tmp_path: Path) -> None:
    own = "import calc\n\n\ndef test_one():\n    assert calc.one() == 1\n"
    one = WarmProject(tmp_path / "p", {**BASE, OWN: own})
    changed = {"calc.py": WHOLE, OWN: f"{own}\n\ndef test_more():\n    pass\n"}
    validation = one.tried(changed, baseline=one.baseline())
    assert f"{OWN}: a test of the base that was edited; its base version still passes" in (
        "\n".join(validation.notes)
    )


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({OWN: "x = 1\n"}, NotRun.NO_TESTS),
        ({OWN: "import nowhere\n"}, NotRun.NOT_COLLECTED),
        ({OWN: "import os\n\nos._exit(3)\n"}, NotRun.NO_REPORT),
    ],
)
def test_what_cannot_be_run_on_the_base_is_said_and_not_run(
    files: dict[str, str], why: NotRun, tmp_path: Path
) -> None:
    one = project(tmp_path, **files)
    before = one.baseline()
    assert before.suite is not None
    assert before.suite.not_run is why
    assert "suite" not in one.tried({"calc.py": WHOLE}, baseline=before).summary


def test_a_suite_that_takes_too_long_is_not_run(tmp_path: Path) -> None:
    slow = "import time\n\n\ndef test_slow():\n    time.sleep(60)\n"
    one = project(tmp_path, **{"tests/test_slow.py": slow})
    before = one.baseline(timeout_s=4.0)
    assert before.suite is not None
    assert before.suite.not_run is NotRun.TOO_SLOW


def test_a_project_without_tests_starts_no_process(tmp_path: Path) -> None:
    one = WarmProject(tmp_path / "p", {SEED: ADD_TEST, "calc.py": ONE})
    before = one.baseline()
    assert before.suite is not None
    assert before.suite.not_run is NotRun.NO_TESTS
    assert before.suite_report is not None
    assert before.suite_report.exit_code is None


def test_the_owner_may_switch_it_off_or_choose(tmp_path: Path) -> None:
    one = project(tmp_path, **{"more/test_more.py": "def test_more():\n    assert 0\n"})
    assert one.baseline(facts=ProjectFacts(suite=False)).suite is None
    chosen = one.baseline(facts=ProjectFacts(suite=("tests", "-k", "one"))).suite_report
    assert chosen is not None
    assert chosen.passed
    assert chosen.tests is not None
    assert chosen.tests["passed"] == 1


def test_what_the_configuration_leaves_out_stays_out(tmp_path: Path) -> None:
    config = "[pytest]\ntestpaths = tests\naddopts = -x -m 'not slow'\nmarkers =\n    slow: s\n"
    own = "import pytest\n\n\n@pytest.mark.slow\ndef test_slow():\n    assert 0\n\n\n"
    files = {OWN: f"{own}def test_quick():\n    pass\n", "pytest.ini": config}
    files["elsewhere/test_else.py"] = "def test_else():\n    assert 0\n"
    before = project(tmp_path, **files).baseline()
    assert before.suite_report is not None
    assert before.suite_report.passed, before.suite_report.output
    assert before.suite_report.tests is not None
    assert before.suite_report.tests["passed"] == 1


def test_seed_tests_are_no_part_of_it(tmp_path: Path) -> None:
    files = {**BASE, "tests/test_t002_open.py": "def test_open():\n    assert 0\n"}
    one = WarmProject(tmp_path / "p", files, task(), task(2, Status.PENDING))
    before = one.baseline()
    assert before.suite is not None
    assert before.suite.red == (f"{OWN}::test_red_before",)


SKIPPING = """\
import pytest

import calc


@pytest.mark.parametrize("number", calc.NUMBERS)
def test_numbers(number):
    assert calc.one() == number


@pytest.mark.skipif(not calc.HAS, reason="is not there")
def test_has():
    assert calc.one() == 1


def test_reached():
    assert calc.one() == 1
"""
KEPT = "NUMBERS = [1]\nHAS = True\n\n\n"


@pytest.mark.parametrize(
    ("code", "lost"),
    [
        (f"NUMBERS = []\nHAS = True\n\n\n{ONE}", "test_numbers"),
        (f"NUMBERS = [1]\nHAS = False\n\n\n{ONE}", "test_has"),
        (
            f"import unittest\n\n{KEPT}def one():\n    raise unittest.SkipTest\n",
            "test_reached",
        ),
    ],
)
def test_a_test_that_passed_may_not_be_skipped_or_vanish(
    code: str, lost: str, tmp_path: Path
) -> None:
    one = WarmProject(tmp_path / "p", {**BASE, "calc.py": KEPT + ONE, OWN: SKIPPING})
    before = one.baseline()
    validation = one.tried({"calc.py": f"{code}\n\n{RIGHT}"}, baseline=before)
    assert validation.summary["suite"] == "failed"
    said = f"{OWN}::{lost}: passed on the base, is skipped or gone here"
    assert said in report(validation, "suite").output


def test_fewer_cases_of_a_test_that_still_passes_are_no_loss(tmp_path: Path) -> None:
    one = WarmProject(
        tmp_path / "p",
        {**BASE, "calc.py": f"NUMBERS = [1, 1.0]\nHAS = True\n\n\n{ONE}", OWN: SKIPPING},
    )
    before = one.baseline()
    assert one.tried({"calc.py": f"{KEPT}{ONE}\n\n{RIGHT}"}, baseline=before).passed


def test_a_test_that_the_change_itself_takes_away_is_named_not_red(tmp_path: Path) -> None:
    one = WarmProject(tmp_path / "p", {**BASE, "calc.py": KEPT + ONE, OWN: SKIPPING})
    before = one.baseline()
    fewer = SKIPPING.partition("\n\ndef test_reached")[0] + "\n"
    validation = one.tried({"calc.py": f"{KEPT}{ONE}\n\n{RIGHT}", OWN: fewer}, baseline=before)
    assert validation.passed
    assert any("a test of the base that was edited" in note for note in validation.notes)


def test_lanes_that_begin_at_once_run_the_tests_of_their_base_once(tmp_path: Path) -> None:
    one, shared = project(tmp_path), {}
    slots = GateSlots(1, Interrupt())
    plan = Plan(tasks=one.tasks)

    def begin(number: int) -> Baseline:
        own, scratch = slots.handle(number), one.root / f"scratch{number}"
        gate = one.gate(suites=shared, place=own.taken, alone=own.alone, scratch=scratch)
        return gate.baseline_onto(one.tasks[0], plan, one.base, Baseline())

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(begin, range(3)))
    assert len({each.suite.tree for each in found if each.suite}) == 1
    assert [each.suite_report is not None for each in found].count(True) == 1


KIT = "pkg/tests/kit.py"
STANDING = {
    "a helper that was made to look away": ("return a == b", "return True", False),
    "a helper that was tidied up": ("return a == b", "return b == a", True),
}


@pytest.mark.parametrize("what", STANDING)
def test_a_changed_helper_of_the_suite_is_named_with_what_the_bases_says(
    what: str, tmp_path: Path
) -> None:
    old, new, honest = STANDING[what]
    own = "from kit import same\n\nfrom pkg.shop import total\n\n\n"
    files = {
        "pkg/__init__.py": "",
        "pkg/shop.py": "def total():\n    return 5\n",
        KIT: f"def same(a, b):\n    {old}\n",
        "pkg/tests/test_shop.py": f"{own}def test_total():\n    assert same(total(), 5)\n",
    }
    project = WarmProject(tmp_path / "p", files)
    baseline = project.baseline()
    assert baseline.support == (KIT,)
    project.write({KIT: f"def same(a, b):\n    {new}\n"})
    if not honest:
        project.write({"pkg/shop.py": "def total():\n    return 4\n"})
    validation = project.validate(baseline)
    said = "still passes on this tree" if honest else "FAILS on this tree: pkg/tests/test_shop.py::"
    notes = [
        note for note in validation.notes if note.startswith(f"{KIT}: tests stand on it; with")
    ]
    assert len(notes) == 1
    assert said in notes[0]

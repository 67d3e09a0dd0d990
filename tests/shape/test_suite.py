"""The shipped suite is as large as it is said to be; `make suite` proves what is in it."""

from __future__ import annotations

from collections import Counter

from tilth.contract.verdict import RejectionCategory
from tilth.evalcheck.cases import load_suite

CASES, RIGHTS, WRONGS = 25, 75, 75


def test_every_case_can_be_read() -> None:
    assert [str(problem) for problem in load_suite().problems] == []


def test_there_are_enough_cases_right_changes_and_wrong_ones() -> None:
    cases = load_suite().cases
    assert len(cases) >= CASES
    assert sum(len(case.rights) for case in cases) >= RIGHTS
    assert sum(len(case.wrongs) for case in cases) >= WRONGS


def test_every_category_is_there() -> None:
    counted = Counter(case.category for case in load_suite().cases)
    assert [category for category in RejectionCategory if not counted[category]] == []


def test_every_case_has_several_changes_of_both_kinds() -> None:
    few = [c.id for c in load_suite().cases if len(c.rights) < 3 or len(c.wrongs) < 3]
    assert few == []

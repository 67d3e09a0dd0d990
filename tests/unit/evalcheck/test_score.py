"""The score of an evaluator: which plays are mistakes, and how they add up."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.contract.verdict import Decision, RejectionCategory
from tilth.evalcheck.score import Play, by_category, tally

ACCEPT, REJECT = Decision.ACCEPT, Decision.REJECT
GAP, WEAK = RejectionCategory.ACCEPTANCE_GAP, RejectionCategory.WEAK_TEST


def play(is_right: bool, verdict: Decision | None, **changes: Any) -> Play:
    given: dict[str, Any] = {
        "name": f"{GAP} {'right' if is_right else 'wrong'}",
        "category": GAP,
        "is_right": is_right,
        "fault": None if is_right else "it is wrong",
        "model": "m",
        "verdict": verdict,
    }
    return Play(**(given | changes))


@pytest.mark.parametrize(
    ("is_right", "verdict", "mistake"),
    [
        (True, ACCEPT, None),
        (True, REJECT, "false_rejects"),
        (True, None, "unread"),
        (False, ACCEPT, "false_accepts"),
        (False, REJECT, None),
        (False, None, "unread"),
    ],
)
def test_each_mistake_has_its_name(
    is_right: bool, verdict: Decision | None, mistake: str | None
) -> None:
    counts = tally([play(is_right, verdict)])
    assert counts.mistakes == (mistake is not None)
    for name in ("false_accepts", "false_rejects", "unread"):
        assert getattr(counts, name) == (name == mistake)


def test_a_rejection_for_another_reason_is_no_mistake_but_does_not_name_the_fault() -> None:
    plays = [play(False, REJECT, said_category=GAP), play(False, REJECT, said_category=WEAK)]
    assert (tally(plays).mistakes, tally(plays).same_category) == (0, 1)


def test_agreement_is_counted_by_change() -> None:
    plays = [play(True, ACCEPT), play(True, REJECT), play(False, REJECT), play(False, REJECT)]
    counts = tally(plays)
    assert (counts.changes, counts.agreeing, counts.plays) == (2, 1, 4)


def test_categories_are_counted_apart() -> None:
    counts = by_category([play(True, REJECT), play(False, ACCEPT, category=WEAK)])
    assert set(counts) == set(RejectionCategory)
    assert counts[GAP].false_rejects == counts[WEAK].false_accepts == 1
    assert counts[RejectionCategory.SCOPE_CREEP].plays == 0

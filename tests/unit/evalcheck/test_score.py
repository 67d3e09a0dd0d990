"""The score of an evaluator: which plays are mistakes, and how they add up."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.base.rate import Rate, wilson
from tilth.contract.verdict import Decision, Proof, RejectionCategory
from tilth.evalcheck.score import Mistake, Play, agreeing, by_category, tally

ACCEPT, REJECT = Decision.ACCEPT, Decision.REJECT
GAP, WEAK = RejectionCategory.ACCEPTANCE_GAP, RejectionCategory.WEAK_TEST


def play(is_right: bool, verdict: Decision | None, **changes: Any) -> Play:
    given: dict[str, Any] = {
        "case": "a-case",
        "change": "right/one" if is_right else "wrong/one",
        "category": GAP,
        "is_right": is_right,
        "verdict": verdict,
    }
    return Play(**(given | changes))


@pytest.mark.parametrize(
    ("is_right", "verdict", "mistake"),
    [
        (True, ACCEPT, None),
        (True, REJECT, Mistake.FALSE_REJECT),
        (True, None, Mistake.UNREADABLE),
        (False, ACCEPT, Mistake.FALSE_ACCEPT),
        (False, REJECT, None),
        (False, None, Mistake.UNREADABLE),
    ],
)
def test_each_mistake_has_its_name(
    is_right: bool, verdict: Decision | None, mistake: Mistake | None
) -> None:
    assert play(is_right, verdict).mistake is mistake


def test_an_unreadable_review_is_neither_a_false_accept_nor_a_false_reject() -> None:
    found = tally([play(True, None), play(False, None), play(False, REJECT), play(True, REJECT)])
    assert (found.false_accept.count, found.false_accept.of) == (0, 1)
    assert (found.false_reject.count, found.false_reject.of) == (1, 1)
    assert found.unreadable == 2


def test_proven_concerns_are_counted() -> None:
    plays = [play(False, REJECT, proof=proof) for proof in (Proof.PROVEN, Proof.UNPROVEN, None)]
    assert tally(plays).proven == 1


def test_categories_that_were_not_played_are_left_out() -> None:
    plays = [play(False, ACCEPT, category=WEAK), play(False, REJECT, category=WEAK)]
    assert {name: found.false_accept.count for name, found in by_category(plays).items()} == {
        WEAK: 1
    }


def test_rounds_that_disagree_are_seen() -> None:
    plays = [play(True, ACCEPT), play(True, REJECT, round=2), play(False, REJECT)]
    assert agreeing(plays) == (1, 2)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [
        # As R's prop.test without correction gives them.
        (0, 75, 0.0, 0.048726),
        (0, 12, 0.0, 0.242494),
        (1, 3, 0.061492, 0.79234),
        (5, 10, 0.236593, 0.763407),
        (12, 12, 0.757506, 1.0),
    ],
)
def test_the_interval_is_wilsons(count: int, of: int, low: float, high: float) -> None:
    assert wilson(count, of) == pytest.approx((low, high), abs=1e-5)


def test_of_nothing_nothing_is_known() -> None:
    assert Rate.share(0, 0) == Rate(count=0, of=0, rate=None, low=0.0, high=1.0)
    assert str(Rate.share(0, 0)) == "unknown"
    assert str(Rate.share(2, 144)) == "1.4% (95% 0.4% to 4.9%)"

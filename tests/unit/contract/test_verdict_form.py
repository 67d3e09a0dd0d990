"""The verdict: an accept must be exact, a reject is never lost."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.base.errors import Unreadable
from tilth.contract.rules import Rules
from tilth.contract.verdict import (
    Decision,
    RejectionCategory,
    Verdict,
    asks_despite_accept,
    parse_verdict,
    reject_in,
)
from tilth.model.messages import Turn, Usage

ACCEPT = {"concern": "Sound.", "verdict": "accept", "rejection_category": None, "next_step": None}
REJECT = {
    "concern": "The test asserts nothing.",
    "evidence": ["tests/test_a.py::test_b"],
    "verdict": "reject",
    "rejection_category": "weak_test",
    "next_step": "Assert the result.",
}


def call(arguments: Any, id: str = "c1") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "submit_verdict", "input": arguments}


def turn(*content: dict[str, Any], stop_reason: str = "tool_use") -> Turn:
    return Turn(content=content, stop_reason=stop_reason, usage=Usage(), model="m", latency_ms=1)


def read(arguments: Any) -> Verdict:
    return parse_verdict(turn(call(arguments)), 0)


def refusal(answer: Turn) -> str:
    with pytest.raises(Unreadable) as caught:
        parse_verdict(answer, 0)
    return str(caught.value)


@pytest.mark.parametrize("word", ["Reject", "REJECT", " reject", "rejected", "**reject**"])
def test_a_reject_is_read_however_it_is_written(word: str) -> None:
    assert read(REJECT | {"verdict": word}).verdict is Decision.REJECT


@pytest.mark.parametrize("category", ["WEAK_TEST", "weak test", "Weak-Test", "`weak_test`"])
def test_a_category_is_read_however_it_is_written(category: str) -> None:
    read_category = read(REJECT | {"rejection_category": category}).rejection_category
    assert read_category is RejectionCategory.WEAK_TEST


def test_an_accept_that_asks_for_a_change_contradicts_itself() -> None:
    asks = {"next_step": "Handle the empty text."}
    assert asks_despite_accept(turn(call(ACCEPT | asks)))
    assert not asks_despite_accept(turn(call(ACCEPT | {"next_step": "none"})))
    assert not asks_despite_accept(turn(call(REJECT)))
    assert not asks_despite_accept(turn(call(ACCEPT | asks), call(ACCEPT | asks, "c2")))


def test_an_accepts_next_step_is_read_and_is_none_where_a_word_says_so() -> None:
    assert read(ACCEPT | {"next_step": "Rename it some day."}).next_step == "Rename it some day."
    assert read(ACCEPT | {"next_step": "none"}).next_step is None


@pytest.mark.parametrize("verdict", [ACCEPT, REJECT], ids=["accept", "reject"])
def test_an_empty_concern_is_unreadable(verdict: dict[str, Any]) -> None:
    assert "concern" in refusal(turn(call(verdict | {"concern": " \n"})))


def test_a_score_that_goes_on_and_on_is_read_at_once() -> None:
    assert "score" in refusal(turn(call(ACCEPT | {"score": "*" * 200_000 + "x"})))


def test_what_was_recorded_under_earlier_rules_is_read_as_it_was_then() -> None:
    before = Rules.CHALLENGE
    half, empty = turn(call(ACCEPT | {"score": 59.5})), turn(call(ACCEPT | {"concern": ""}))
    assert parse_verdict(half, 60, rules=before).score == 60
    assert parse_verdict(half, 60).score == 59
    assert parse_verdict(empty, 0, rules=before).verdict is Decision.ACCEPT
    with pytest.raises(Unreadable, match="score"):
        parse_verdict(turn(call(ACCEPT | {"score": "72/100"})), 60, rules=before)


def test_a_missing_or_unknown_category_is_asked_for_by_the_allowed_values() -> None:
    for category in (None, "bad_style"):
        said = refusal(turn(call(REJECT | {"rejection_category": category})))
        assert all(allowed in said for allowed in RejectionCategory)


@pytest.mark.parametrize(
    "lacking",
    [
        {"rejection_category": None},
        {"rejection_category": "bad_style"},
        {"next_step": None},
        {"next_step": "none", "rejection_category": "?"},
        {"evidence": {"file": "a.py"}, "rejection_category": None, "next_step": None},
        {"score": "high", "verdict": "Reject", "rejection_category": "", "next_step": 7},
    ],
)
def test_a_reject_that_lacks_something_is_not_lost(lacking: dict[str, Any]) -> None:
    reject = reject_in(turn(call(REJECT | lacking)))
    assert reject is not None
    assert reject.verdict is Decision.REJECT
    assert reject.concern == REJECT["concern"]
    kept = lacking.get("rejection_category", "weak_test") == "weak_test"
    assert reject.rejection_category == ("weak_test" if kept else "acceptance_gap")
    step = "Assert the result." if "next_step" not in lacking else REJECT["concern"]
    assert reject.next_step == step


def test_a_reject_without_any_reason_still_says_that_it_was_one() -> None:
    reject = reject_in(turn(call({"verdict": "reject"})))
    assert reject is not None
    assert (reject.rejection_category, reject.concern) == ("acceptance_gap", reject.next_step)


@pytest.mark.parametrize(
    "answer",
    [
        turn(call(ACCEPT | {"verdict": "ACCEPT"})),
        turn(call(ACCEPT | {"rejection_category": "weak_test"})),
        turn(call(REJECT), call(REJECT, id="c2")),
        turn(call(REJECT), stop_reason="max_tokens"),
        turn({"type": "text", "text": "I reject this."}),
        turn(call("reject")),
    ],
    ids=range(6),
)
def test_nothing_but_one_whole_reject_is_taken_for_one(answer: Turn) -> None:
    assert reject_in(answer) is None


def test_a_probe_is_kept_only_where_one_was_asked_for() -> None:
    answer = turn(call({**REJECT, "probe": "def test_x(): assert 0"}))
    assert parse_verdict(answer, 0).probe is None
    assert parse_verdict(answer, 0, with_probe=True).probe == "def test_x(): assert 0"


def test_an_accept_that_carries_a_probe_is_unreadable_where_probes_are_run() -> None:
    answer = turn(call({**ACCEPT, "probe": "def test_x(): assert 0"}))
    with pytest.raises(Unreadable, match="an accept carries no probe"):
        parse_verdict(answer, 0, with_probe=True)
    assert parse_verdict(answer, 0).verdict is Decision.ACCEPT

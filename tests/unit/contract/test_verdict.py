"""The verdict: which answers can be read, what the threshold makes of them, who is charged."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.base.errors import Unreadable
from tilth.contract.verdict import (
    SUBMIT_VERDICT,
    Decision,
    Judged,
    LedgerEntry,
    RejectionCategory,
    Verdict,
    entry_of,
    harness_reject,
    parse_verdict,
    person_reject,
)
from tilth.model.messages import Turn, Usage

ACCEPT = {"verdict": "accept", "rejection_category": None, "concern": "Sound.", "next_step": None}
REJECT = {
    "verdict": "reject",
    "rejection_category": "weak_test",
    "concern": "The test asserts nothing.",
    "evidence": ["tests/test_a.py::test_b"],
    "next_step": "Assert the result.",
}
JUDGED = Judged(
    ts="2026-11-16T22:15:30.000Z",
    task_id="T-001",
    iter=4,
    tree="a" * 40,
    diff_sha256="b" * 64,
    validators={"pytest": "passed"},
)


def call(arguments: Any, name: str = "submit_verdict", id: str = "c1") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def turn(*content: dict[str, Any], stop_reason: str = "tool_use") -> Turn:
    return Turn(
        content=content, stop_reason=stop_reason, usage=Usage(), model="second-model", latency_ms=1
    )


def read(arguments: Any, threshold: int = 0) -> Verdict:
    return parse_verdict(turn(call(arguments)), threshold)


def refusal(answer: Turn, threshold: int = 0) -> str:
    with pytest.raises(Unreadable) as caught:
        parse_verdict(answer, threshold)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_accept_and_a_reject_are_read() -> None:
    accepted, rejected = read(ACCEPT), read(REJECT)
    assert (accepted.verdict, accepted.rejection_category) == (Decision.ACCEPT, None)
    assert (rejected.verdict, rejected.rejection_category, rejected.next_step) == (
        Decision.REJECT,
        RejectionCategory.WEAK_TEST,
        "Assert the result.",
    )


def test_text_and_thinking_beside_the_one_call_do_no_harm() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    answer = turn(thinking, {"type": "text", "text": "I accept."}, call(ACCEPT))
    assert parse_verdict(answer, 0).verdict is Decision.ACCEPT


@pytest.mark.parametrize("category", list(RejectionCategory))
def test_every_category_of_the_contract_is_read(category: RejectionCategory) -> None:
    assert read(REJECT | {"rejection_category": category.value}).rejection_category is category


def test_the_categories_are_those_of_the_contract() -> None:
    assert set(RejectionCategory) == {
        "scope_creep",
        "acceptance_gap",
        "weak_test",
        "tests_pass_but_wrong",
        "half_finished",
        "spec_violation",
    }


def test_an_answer_without_exactly_one_call_is_unreadable() -> None:
    assert "has 0 calls" in refusal(turn({"type": "text", "text": "accept"}))
    assert "has 0 calls" in refusal(turn(stop_reason="refusal"))
    assert "has 2 calls" in refusal(turn(call(ACCEPT), call(ACCEPT, id="c2")))
    assert "has 2 calls" in refusal(turn(call(ACCEPT), call(REJECT, id="c2")))
    assert "has 2 calls" in refusal(turn(call(ACCEPT), call({}, name="bash", id="c2")))


@pytest.mark.parametrize("name", ["submit_case", "Submit_Verdict", "bash", ""])
def test_a_call_of_another_tool_is_unreadable(name: str) -> None:
    assert repr(name) in refusal(turn(call(ACCEPT, name=name)))


def test_of_a_long_name_of_another_tool_only_its_beginning_is_told() -> None:
    said = refusal(turn(call(ACCEPT, name="n" * 2_000_000)))
    assert f"there is no tool '{'n' * 99}…'; call" in said


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_an_answer_that_was_cut_is_unreadable_however_whole_it_looks(stop: str) -> None:
    assert "cut off" in refusal(turn(call(ACCEPT), stop_reason=stop))


@pytest.mark.parametrize("arguments", [None, [], "accept", 1, {}, [ACCEPT]])
def test_arguments_of_another_shape_are_unreadable(arguments: Any) -> None:
    assert refusal(turn(call(arguments))).startswith("submit_verdict: ")


@pytest.mark.parametrize(
    "word", ["ACCEPT", "Accept", "accepted", " accept", "", "pass", True, None]
)
def test_only_the_two_words_are_a_verdict(word: Any) -> None:
    assert "verdict" in refusal(turn(call(ACCEPT | {"verdict": word})))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rejection_category": None}, "a reject needs a rejection_category"),
        ({"rejection_category": " "}, "a reject needs a rejection_category"),
        ({"rejection_category": "bad_style"}, "rejection_category"),
        ({"rejection_category": ["weak_test"]}, "rejection_category"),
        ({"next_step": None}, "a reject needs a next_step"),
        ({"next_step": " \n"}, "a reject needs a next_step"),
        ({"concern": " "}, "a reject needs a concern"),
        ({"concern": None}, "concern"),
        ({"concern": ["x"]}, "concern"),
        ({"evidence": [1]}, "evidence.0"),
        ({"evidence": {"file": "a.py"}}, "evidence"),
        ({"resolved": [1]}, "resolved.0"),
    ],
)
def test_a_reject_that_does_not_hang_together_is_unreadable(
    changes: dict[str, Any], said: str
) -> None:
    assert said in refusal(turn(call(REJECT | changes)))


@pytest.mark.parametrize("missing", ["verdict", "rejection_category", "concern", "next_step"])
def test_a_reject_without_one_of_its_fields_is_unreadable(missing: str) -> None:
    arguments = {name: value for name, value in REJECT.items() if name != missing}
    assert missing in refusal(turn(call(arguments)))


@pytest.mark.parametrize("category", ["weak_test", "Weak_Test", "whatever"])
def test_an_accept_with_a_category_is_unreadable(category: str) -> None:
    assert "rejection_category" in refusal(turn(call(ACCEPT | {"rejection_category": category})))


@pytest.mark.parametrize("category", ["none", "None", "null", "", None])
def test_a_word_for_no_category_is_none(category: Any) -> None:
    assert read(ACCEPT | {"rejection_category": category}).rejection_category is None


@pytest.mark.parametrize(
    "score",
    [
        *("72", 72, 72.0, " 72 ", "72.0", 72.5, "72.9", "**72**", "**72.5**", 72.99, "`72`"),
        *("72/100", "72 / 100", "72%", "SCORE: **72**", "score=72", "**Score:** 72/100"),
    ],
)
def test_a_score_is_read_from_any_way_to_write_the_number(score: Any) -> None:
    read_score = read(ACCEPT | {"score": score}).score
    assert read_score == 72
    assert type(read_score) is int


def test_what_is_found_stands_before_what_is_made_of_it() -> None:
    fields = list(SUBMIT_VERDICT.input_schema["properties"])
    assert fields[:3] == ["concern", "evidence", "verdict"]
    assert SUBMIT_VERDICT.input_schema["required"] == ["concern", "verdict"]


@pytest.mark.parametrize("said", [ACCEPT, REJECT], ids=["accept", "reject"])
def test_a_verdict_is_the_same_in_whatever_order_it_is_written(said: dict[str, Any]) -> None:
    assert read(dict(reversed(said.items()))) == read(said)


def test_a_weak_seed_test_is_a_word_to_a_person_and_no_part_of_the_entry() -> None:
    verdict = read(ACCEPT | {"seed_concern": "It never tries an empty list."})
    assert verdict.seed_concern == "It never tries an empty list."
    entry = entry_of(verdict, JUDGED, model="m", threshold=0)
    assert entry.accepted
    assert "empty list" not in entry.model_dump_json()


@pytest.mark.parametrize("score", [0, 100, "0", "100"])
def test_both_ends_of_the_scale_are_scores(score: Any) -> None:
    assert read(ACCEPT | {"score": score}).score == int(score)


@pytest.mark.parametrize(
    "score",
    [
        "seventy",
        "72/10",
        "72 of 100",
        "",
        True,
        False,
        "8/10",
        100.4,
        -1,
        101,
        1e9,
        [72],
        {"score": 72},
    ],
)
def test_a_score_that_is_no_whole_number_on_the_scale_is_unreadable(score: Any) -> None:
    assert "score" in refusal(turn(call(ACCEPT | {"score": score})))


@pytest.mark.parametrize("verdict", [ACCEPT, REJECT])
def test_a_score_is_required_only_with_a_threshold(verdict: dict[str, Any]) -> None:
    assert read(verdict).score is None
    assert "score is required" in refusal(turn(call(verdict)), threshold=1)
    assert "score is required" in refusal(turn(call(verdict | {"score": None})), threshold=80)


@pytest.mark.parametrize("score", [0, 79])
def test_an_accept_below_the_threshold_is_recorded_as_a_reject(score: int) -> None:
    verdict = read(ACCEPT | {"score": score, "concern": "Thin."}, threshold=80)
    entry = entry_of(verdict, JUDGED, model="m", threshold=80)
    assert (entry.verdict, entry.rejection_category, entry.below_threshold) == (
        Decision.REJECT,
        RejectionCategory.ACCEPTANCE_GAP,
        True,
    )
    assert (entry.next_step, entry.concern, entry.score) == ("Thin.", "Thin.", score)
    assert entry.earns_bonus
    assert entry.counts_toward_cap


def test_an_accept_at_the_threshold_is_an_accept() -> None:
    verdict = read(ACCEPT | {"score": 80}, threshold=80)
    entry = entry_of(verdict, JUDGED, model="m", threshold=80)
    assert entry.accepted
    assert not entry.below_threshold


def test_without_a_threshold_a_low_score_changes_nothing() -> None:
    entry = entry_of(read(ACCEPT | {"score": 1}), JUDGED, model="m", threshold=0)
    assert entry.accepted
    assert not entry.below_threshold


def test_a_reject_below_the_threshold_stays_what_it_was() -> None:
    verdict = read(REJECT | {"score": 10}, threshold=80)
    entry = entry_of(verdict, JUDGED, model="m", threshold=80)
    assert (entry.rejection_category, entry.next_step) == ("weak_test", "Assert the result.")
    assert not entry.below_threshold


def test_null_lists_a_lone_text_and_unknown_fields_are_tolerated() -> None:
    odd = {"evidence": "a.py:f", "resolved": None, "confidence": 0.9}
    verdict = read(REJECT | odd)
    assert (verdict.evidence, verdict.resolved) == (("a.py:f",), ())


def test_a_persons_reject_is_told_from_all_others() -> None:
    said = person_reject(JUDGED, category=RejectionCategory.WEAK_TEST, concern="Look again.")
    assert (said.source, said.verdict, said.concern) == ("person", "reject", "Look again.")
    assert said.rejection_category is RejectionCategory.WEAK_TEST


def test_an_entry_is_bound_to_what_was_judged() -> None:
    entry = entry_of(read(ACCEPT), JUDGED, model="second-model", threshold=0)
    assert {name: getattr(entry, name) for name in Judged.model_fields} == dict(JUDGED)
    assert (entry.model, entry.source, entry.parse_failed) == ("second-model", "evaluator", False)


def test_an_entry_has_the_fields_of_the_contract_in_their_order() -> None:
    assert list(LedgerEntry.model_fields) == [
        "id",
        "ts",
        "task_id",
        "iter",
        "verdict",
        "rejection_category",
        "concern",
        "evidence",
        "next_step",
        "score",
        "resolved",
        "source",
        "probe",
        "proof",
        "parse_failed",
        "below_threshold",
        "model",
        "tree",
        "diff_sha256",
        "validators",
    ]


def harness(*, parse_failed: bool = False) -> LedgerEntry:
    return harness_reject(
        JUDGED,
        category=RejectionCategory.ACCEPTANCE_GAP,
        concern="Nothing has changed.",
        next_step="Make the change.",
        parse_failed=parse_failed,
    )


@pytest.mark.parametrize(
    ("entry", "bonus", "cap"),
    [
        (entry_of(Verdict(**ACCEPT), JUDGED, model="m", threshold=0), False, False),
        (entry_of(Verdict(**REJECT), JUDGED, model="m", threshold=0), True, True),
        (harness(), False, False),
        (harness(parse_failed=True), True, False),
    ],
    ids=["accept", "evaluator", "harness", "unreadable"],
)
def test_who_rejected_decides_what_it_earns_and_costs(
    entry: LedgerEntry, bonus: bool, cap: bool
) -> None:
    assert (entry.earns_bonus, entry.counts_toward_cap) == (bonus, cap)


def test_the_tool_asks_for_the_evaluators_fields_and_none_of_the_harness() -> None:
    properties = SUBMIT_VERDICT.input_schema["properties"]
    assert set(properties) == {
        "verdict",
        "rejection_category",
        "concern",
        "evidence",
        "next_step",
        "score",
        "resolved",
        "seed_concern",
    }

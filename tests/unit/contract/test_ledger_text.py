"""The ledger in words: what a worker reads of a rejection, and both sides of earlier verdicts."""

from __future__ import annotations

from typing import Any

from tilth.contract.ledger_text import format_ledger, format_reject_feedback
from tilth.contract.verdict import (
    Judged,
    LedgerEntry,
    Proof,
    RejectionCategory,
    Verdict,
    entry_of,
    harness_reject,
)

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
PROBE = "def test_it():\n    assert 1 == 2\n"


def harness(probe: str | None = None) -> LedgerEntry:
    return harness_reject(
        JUDGED,
        category=RejectionCategory.ACCEPTANCE_GAP,
        concern="Nothing has changed.",
        next_step="Make the change.",
        probe=probe,
    )


def rejected(proof: Proof | None = None, **changes: Any) -> LedgerEntry:
    return entry_of(Verdict(**(REJECT | changes)), JUDGED, model="m", threshold=0, proof=proof)


def test_the_feedback_says_what_is_wrong_and_what_counts_as_resolved() -> None:
    text = format_reject_feedback(rejected(), 2)
    assert text.startswith("REJECTED (weak_test). The evaluator")
    assert "Concern C3: The test asserts nothing." in text
    assert "- tests/test_a.py::test_b" in text
    assert "Next step: Assert the result." in text
    after = text.split("What counts as resolved:")[1]
    for word in ("fix the named concern", "acceptance tests once", "submit_case"):
        assert word in after


def test_feedback_of_the_harness_does_not_speak_for_the_evaluator() -> None:
    text = format_reject_feedback(harness(), 0)
    assert "The evaluator" not in text
    assert "Evidence" not in text


def test_what_is_open_is_shown_however_old_it_is() -> None:
    entries = [rejected(concern=f"Concern number {n}.") for n in range(1, 8)]
    text = format_ledger([*entries, rejected(resolved=["C2"])])
    assert [n for n in range(1, 8) if f"Concern number {n}." in text] == [1, 3, 4, 5, 6, 7]


def test_only_the_last_five_entries_are_shown_under_ids_that_stay() -> None:
    entries = [rejected(concern=f"Concern number {n}.") for n in range(1, 9)]
    settled = rejected(concern="Concern number 8.", resolved=[f"C{n}" for n in range(1, 8)])
    text = format_ledger([*entries[:7], settled])
    shown = [n for n in range(1, 9) if f"Concern number {n}." in text]
    assert shown == [4, 5, 6, 7, 8]
    for n in shown:
        state = "" if n == 8 else " (settled)"
        assert f"- C{n}{state}: reject weak_test, by evaluator\n  concern: Concern" in text
    assert format_ledger(entries[:1]).startswith("- C1: ")
    assert format_ledger([]) == ""


def test_a_concern_is_marked_settled_once_a_later_verdict_says_so() -> None:
    entries = [rejected(), rejected(resolved=["C1"]), rejected(resolved=["C3"])]
    text = format_ledger(entries)
    assert "- C1 (settled): " in text
    assert "- C2: " in text
    assert "- C3: " in text  # a verdict cannot settle its own concern


def test_a_score_and_the_source_are_shown() -> None:
    text = format_ledger([rejected(score=40), harness()])
    assert "- C1: reject weak_test, score 40, by evaluator" in text
    assert "- C2: reject acceptance_gap, by harness" in text


def test_a_proven_concern_comes_with_its_test_and_what_pytest_printed() -> None:
    text = format_reject_feedback(rejected(Proof.PROVEN, probe=PROBE), 0, "E  assert 1 == 2")
    assert PROBE.strip() in text
    assert "E  assert 1 == 2" in text
    assert "say in `uncertainties` why" in text


def test_an_unproven_concern_says_so_and_spares_the_worker_the_test() -> None:
    text = format_reject_feedback(rejected(Proof.UNPROVEN, probe=PROBE), 0)
    assert "it is not proven" in text
    assert PROBE.strip() not in text


def test_a_refusal_by_machine_says_what_counts_as_resolved_and_an_empty_diff_does_not() -> None:
    assert "What counts as resolved" in format_reject_feedback(harness(PROBE), 1)
    assert "What counts as resolved" not in format_reject_feedback(harness(), 1)


def test_earlier_verdicts_say_whether_they_were_proven() -> None:
    text = format_ledger([rejected(Proof.PROVEN, probe=PROBE), rejected(Proof.UNPROVEN), harness()])
    assert text.count("proven: a test was run on that change and failed") == 1
    assert text.count("unproven: the test given for it did not fail") == 1


def test_who_did_not_accept_is_said() -> None:
    for source, who in (
        ("evaluator", "The evaluator"),
        ("harness", "The harness"),
        ("person", "The operator"),
    ):
        entry = rejected().model_copy(update={"source": source})
        assert f"{who} did not accept this case." in format_reject_feedback(entry, 0)


def test_the_ledger_tells_evidence_next_step_and_who_ruled() -> None:
    assert format_ledger([rejected()]).splitlines() == [
        "- C1: reject weak_test, by evaluator",
        "  concern: The test asserts nothing.",
        "  evidence: tests/test_a.py::test_b",
        "  next step: Assert the result.",
    ]

"""Open probes: which proven concerns are not settled yet, and how often a machine may refuse."""

from __future__ import annotations

from typing import Any

from tilth.contract.probes import may_refuse, open_probes
from tilth.contract.verdict import (
    Judged,
    LedgerEntry,
    Proof,
    RejectionCategory,
    Verdict,
    entry_of,
    harness_reject,
)

JUDGED = Judged(
    ts="2026-11-16T22:15:30.000Z",
    task_id="T-001",
    iter=4,
    tree="a" * 40,
    diff_sha256="b" * 64,
    validators={},
)
PROBE = "def test_it():\n    assert 1 == 2\n"


def ruled(proof: Proof | None = Proof.PROVEN, **changes: Any) -> LedgerEntry:
    said = {
        "concern": "Wrong.",
        "verdict": "reject",
        "rejection_category": "acceptance_gap",
        "next_step": "Mend it.",
        "probe": PROBE,
        **changes,
    }
    return entry_of(Verdict(**said), JUDGED, model="m", threshold=0, proof=proof)


def refused(probe: str | None = PROBE) -> LedgerEntry:
    return harness_reject(
        JUDGED,
        category=RejectionCategory.ACCEPTANCE_GAP,
        concern="C1 still stands.",
        next_step="Settle C1.",
        probe=probe,
    )


def test_a_proven_concern_is_open_until_a_later_verdict_names_it() -> None:
    assert [probe.concern for probe in open_probes([ruled(), ruled()])] == ["C1", "C2"]
    assert [probe.concern for probe in open_probes([ruled(), ruled(resolved=["c1"])])] == ["C2"]
    assert [probe.text for probe in open_probes([ruled()])] == [PROBE]


def test_what_is_unproven_or_said_by_a_machine_opens_no_probe() -> None:
    assert open_probes([ruled(Proof.UNPROVEN), ruled(None, probe=None), refused()]) == ()


def test_a_machine_refuses_twice_in_a_row_and_no_more() -> None:
    assert may_refuse([ruled()])
    assert may_refuse([ruled(), refused()])
    assert not may_refuse([ruled(), refused(), refused()])


def test_a_word_of_the_evaluator_begins_the_row_anew() -> None:
    assert may_refuse([ruled(), refused(), refused(), ruled()])


def test_other_refusals_of_the_harness_neither_count_nor_end_the_row() -> None:
    assert may_refuse([ruled(), refused(), refused(probe=None)])
    assert not may_refuse([ruled(), refused(), refused(), refused(probe=None)])

"""Open probes: the proven concerns of a task that nobody has settled yet. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tilth.base.values import Value
from tilth.contract.verdict import LedgerEntry, Proof, RejectionCategory, concern_id, is_settled

# After so many refusals by machine the evaluator decides, and may withdraw its probe.
MOST_REFUSALS = 2


class OpenProbe(Value):
    """Name a probe and the concern it proves."""

    concern: str
    text: str
    about: str
    category: RejectionCategory | None


def open_probes(ledger: Sequence[LedgerEntry]) -> tuple[OpenProbe, ...]:
    """Give the evaluator's proven concerns that no later verdict names as resolved."""
    return tuple(
        OpenProbe(
            concern=concern_id(index),
            text=entry.probe,
            about=entry.concern,
            category=entry.rejection_category,
        )
        for index, entry in enumerate(ledger)
        if entry.source == "evaluator"
        and entry.proof is Proof.PROVEN
        and entry.probe is not None
        and not is_settled(index, (later.resolved for later in ledger[index + 1 :]))
    )


def may_refuse(ledger: Sequence[LedgerEntry]) -> bool:
    """Tell whether a probe that still fails may send the case back without an evaluator.

    A row of refusals ends where somebody has judged; a verdict that could not be read is none.
    """
    row = 0
    for entry in reversed(ledger):
        if entry.source != "harness":
            break
        row += entry.is_probe_refusal
    return row < MOST_REFUSALS

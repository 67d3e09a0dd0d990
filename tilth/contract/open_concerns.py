"""Open concerns: what of a ledger is to be settled yet, and what a verdict must say of it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tilth.contract.verdict import Decision, LedgerEntry, Verdict, concern_id, is_settled, names


def open_concerns(ledger: Sequence[LedgerEntry]) -> tuple[int, ...]:
    """Give the places of what evaluator or person want changed and no later verdict settles."""
    return tuple(
        index
        for index, entry in enumerate(ledger)
        if entry.source != "harness"
        and entry.wants is not None
        and not is_settled(index, (later.resolved for later in ledger[index + 1 :]))
    )


def lacking(verdict: Verdict, threshold: int, open_ids: Sequence[str]) -> tuple[str, ...]:
    """Say what a verdict that can be read lacks; all of it is asked for at once."""
    if verdict.verdict is not Decision.ACCEPT:
        return ()
    found = []
    if threshold and (verdict.score or 0) < threshold and verdict.next_step is None:
        found.append(
            f"next_step: a score below the bar of {threshold} sends the case back to its author; "
            "name the one change that would raise it"
        )
    unnamed = [name for name in open_ids if not names(verdict.resolved, name)]
    if unnamed:
        found.append(
            f"resolved: {', '.join(unnamed)} {'is' if len(unnamed) == 1 else 'are'} still open; "
            "hold each against the change and name it if it is settled, or reject"
        )
    return tuple(found)


def open_ids(ledger: Sequence[LedgerEntry]) -> tuple[str, ...]:
    """Name what is open, oldest first."""
    return tuple(concern_id(index) for index in open_concerns(ledger))

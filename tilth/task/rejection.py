"""The rejection: what a verdict against a case counts for, and whether it was the last one allowed.

What the worker is told, and what becomes of a task that has ended, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilth.base.errors import ProviderError
from tilth.contract.outcomes import FailReason, TaskEnd
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import Stagnation
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench
from tilth.task.watch import find_standstill

UNREADABLE_VERDICTS = 3


def count(attempt: Attempt, entry: LedgerEntry) -> None:
    """Count a rejection toward the cap, if it is one that counts, and what could not be read."""
    attempt.rejections += entry.counts_toward_cap
    attempt.unreadable = attempt.unreadable + 1 if entry.parse_failed else 0
    attempt.verified.judge()


def end_of(
    bench: Bench, attempt: Attempt, entry: LedgerEntry, ledger: Sequence[LedgerEntry]
) -> TaskEnd | None:
    """Say how a task ends on a rejection that was counted and stands in its ledger, if it does."""
    standstill = find_standstill(ledger[attempt.ledger_start :])
    if standstill is not None and entry.source == "evaluator":
        attempt.emit(Stagnation(**dict(standstill)))
        return TaskEnd(FailReason.EVALUATOR_CAP, f"{standstill.category} came back three times")
    cap = bench.settings.max_evaluator_calls_per_task
    if cap and attempt.rejections >= cap:
        return TaskEnd(FailReason.EVALUATOR_CAP, f"rejected {attempt.rejections} times")
    return None


def require_readable(attempt: Attempt) -> None:
    """Stop the run where no verdict can be read; only once the worker was told of the last one.

    A resume must find that case answered, or it would stop there again at once.
    """
    if attempt.unreadable >= UNREADABLE_VERDICTS:
        raise ProviderError(
            "the evaluator gave no readable verdict three times in a row; "
            "check TILTH_EVALUATOR_MODEL"
        )

"""Hearing: the safe points of a run at which a person's words are taken up."""

from __future__ import annotations

from tilth.contract.operator_word import Verb
from tilth.contract.verdict import LedgerEntry
from tilth.task import acceptance
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench, RunContext
from tilth.task.words import Exchange, lands, take_up, waiting


def hear(bench: Bench, attempt: Attempt | None = None) -> None:
    """Take up what was said; what a worker is to read goes into its next message.

    A commit is made between two tasks alone: under one that is at work the branch must not move.
    """
    exchange = _exchange(attempt) if attempt else None
    for word in waiting(bench):
        if word.verb is Verb.STOP:
            continue
        if not lands(bench.record.plan, word):
            spoken = take_up(bench, word, exchange)
            if attempt is not None and spoken.note is not None:
                attempt.notes.append(spoken.note)
        elif attempt is None:
            acceptance.accept(bench, word)


def deliver(attempt: Attempt) -> None:
    """Put the notes at the end of the message that the worker is sent next."""
    if attempt.notes:
        attempt.conversation.add([{"type": "text", "text": note} for note in attempt.notes])
        attempt.notes = []


def hear_verdict(bench: Bench, attempt: Attempt, call_id: str) -> LedgerEntry | None:
    """Give a person's reject of the case under review, if one has come: it ends the review."""
    exchange = _exchange(attempt, case=call_id)
    for word in waiting(bench):
        if word.verb is Verb.REJECT and word.task == attempt.task.id:
            return take_up(bench, word, exchange).entry
    return None


def hear_stop(context: RunContext) -> None:
    """Put on record that a person asked for this stop."""
    for word in waiting(context):
        if word.verb is Verb.STOP:
            take_up(context, word, None)


def _exchange(attempt: Attempt, case: str | None = None) -> Exchange:
    return Exchange(attempt.task.id, attempt.conversation.id, attempt.emit, case)

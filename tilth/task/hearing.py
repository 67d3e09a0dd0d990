"""Hearing: the safe points of a run at which a person's words are taken up."""

from __future__ import annotations

from collections.abc import Collection

from tilth.contract.operator_word import OperatorWord, Verb
from tilth.contract.outcomes import FailReason, TaskEnd
from tilth.contract.prd import Status
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import OperatorSpoke
from tilth.model.messages import ToolCall, ToolResult
from tilth.task import acceptance, landing
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench, RunContext
from tilth.task.briefs import NOTE_FIRST
from tilth.task.tool_turns import give_result
from tilth.task.words import Listener, lands, lands_at_rest, take_up, unheard, waiting


def hear(bench: Bench, attempt: Attempt | None = None) -> None:
    """Take up what was said; what a worker is to read goes into its next message.

    A commit is made between two tasks alone: under one that is at work the branch must not move.
    """
    with bench.one_at_a_time:
        for word in waiting(bench):
            if word.verb is Verb.STOP or (bench.queued and not _is_for(word, attempt)):
                continue
            if attempt is not None and attempt.open_turn is not None and _is_for(word, attempt):
                # An interruption left its last answer unheard: that is the place for it.
                continue
            if attempt is None and lands_at_rest(bench.record.plan, word):
                acceptance.accept(bench, word)
            elif not lands(bench.record.plan, word):
                _take_up(bench, word, attempt)


def hear_for(bench: Bench, busy: Collection[str], *, landing: bool) -> None:
    """Take up what was said to tasks that no lane is at work on; the busy hear for themselves.

    A verdict waits while another task lands: its place in the log is then its place among the
    landings.
    """
    if not bench.words.waiting():
        return
    with bench.one_at_a_time:
        for word in waiting(bench):
            if word.verb is Verb.STOP or (word.task in busy and word.verb is not Verb.ANSWER):
                continue
            if landing and word.verb is not Verb.TELL:
                continue
            if _is_for_its_lane(bench, word):
                continue
            if lands(bench.record.plan, word):
                acceptance.accept(bench, word)
            elif word.task is not None or not busy:
                _take_up(bench, word, None)


def _is_for_its_lane(bench: Bench, word: OperatorWord) -> bool:
    """Tell whether a word is the verdict on a case under review, which its own lane hears."""
    plan = bench.record.plan
    return lands_at_rest(plan, word) and not lands(plan, word)


def _is_for(word: OperatorWord, attempt: Attempt | None) -> bool:
    """Tell whether a word is a lane's own to hear; a note to nobody in particular is anybody's."""
    if attempt is None or word.verb is Verb.ANSWER:
        return False
    return word.task == attempt.task.id or (word.verb is Verb.TELL and word.task is None)


def _take_up(
    bench: Bench, word: OperatorWord, attempt: Attempt | None, case: str | None = None
) -> OperatorSpoke:
    if bench.queued and attempt is not None and word.task is None:
        word = word.model_copy(update={"task": attempt.task.id})
    spoken = take_up(bench, word, _listener(attempt, case) if attempt else None)
    if attempt is not None and spoken.note is not None:
        attempt.notes.append(spoken.note)
    return spoken


def deliver(attempt: Attempt) -> None:
    """Put the notes at the end of the message that the worker is sent next."""
    if attempt.notes:
        attempt.conversation.add([{"type": "text", "text": note} for note in attempt.notes])
        attempt.notes = []


def hear_before(bench: Bench, attempt: Attempt, call_id: str) -> LedgerEntry | None:
    """Take up what was said before a case or blocker is looked at; gives what is ruled on it.

    Once it is accepted a note comes too late, and once it is rejected a reject is a note too.
    """
    ruled = attempt.ruled.get(call_id)
    if ruled is not None and not ruled.accepted:
        return ruled
    heard = (Verb.REJECT, Verb.DROP) if ruled else (Verb.REJECT, Verb.DROP, Verb.TELL)
    with bench.one_at_a_time:
        for word in unheard(bench, bench.words.answering(attempt.task.id, call_id)):
            if word.verb in heard and _is_for(word, attempt):
                spoken = _take_up(bench, word, attempt, call_id)
                if spoken.call_id is not None and spoken.entry is not None:
                    attempt.ruled[call_id] = spoken.entry
                elif spoken.call_id is not None:
                    attempt.held.add(call_id)
    return attempt.ruled.get(call_id)


def hold(bench: Bench, attempt: Attempt, call: ToolCall) -> ToolResult:
    """Give a case or blocker back unheard: the worker reads a person's note first."""
    landing.move(bench, attempt, Status.IN_PROGRESS)
    return give_result(bench, attempt, call, NOTE_FIRST.format(name=call.name))


def is_sent_back(bench: Bench, attempt: Attempt) -> bool:
    """Tell whether a person sent back what the worker did last: that is accepted by nobody else."""
    return bench.words.state.task(attempt.task.id).attempt.sent_back_at_its_end


def hear_verdict(
    bench: Bench, attempt: Attempt, call_id: str, *verbs: Verb
) -> OperatorSpoke | None:
    """Give a person's verdict on the case under review, if one has come: it ends the review.

    So does a drop, which `given_up` tells of.
    """
    listener = _listener(attempt, case=call_id)
    heard = (*(verbs or (Verb.REJECT, Verb.ACCEPT)), Verb.DROP)
    with bench.one_at_a_time:
        for word in waiting(bench):
            if word.verb in heard and word.task == attempt.task.id:
                spoken = take_up(bench, word, listener)
                if word.verb is Verb.DROP:
                    return None
                if spoken.refused is None:
                    return spoken
    return None


def overruled(bench: Bench, attempt: Attempt, call_id: str, judged: LedgerEntry) -> LedgerEntry:
    """Give a person's reject of what an evaluator has just accepted, else what that one said."""
    heard = hear_verdict(bench, attempt, call_id, Verb.REJECT) if judged.accepted else None
    return (heard.entry if heard else None) or judged


def given_up(bench: Bench, attempt: Attempt) -> TaskEnd | None:
    """Say how a task ends that a person has given up."""
    note = bench.words.state.task(attempt.task.id).dropped
    return None if note is None else TaskEnd(FailReason.DROPPED, note)


def hear_stop(context: RunContext) -> None:
    """Put on record that a person asked for this stop."""
    for word in waiting(context):
        if word.verb is Verb.STOP:
            take_up(context, word, None)


def _listener(attempt: Attempt, case: str | None = None) -> Listener:
    return Listener(attempt.task.id, attempt.conversation.id, attempt.emit, case)

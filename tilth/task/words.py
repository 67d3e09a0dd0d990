"""Words: what a person said is taken up here, between two steps of the work or at rest.

A word becomes one event, which is the truth; then the files are put right from the log. A crash in
between is mended by the same step, so that no word is lost and none has its effect twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from tilth.base.errors import UserError
from tilth.base.failpoint import reach
from tilth.contract.ledger_text import format_reject_feedback
from tilth.contract.operator_requests import OperatorRequest, RequestKind
from tilth.contract.operator_word import (
    OperatorWord,
    Verb,
    check_accept,
    check_drop,
    find_request,
    find_task,
    read_decision,
    told_tasks,
    unread,
)
from tilth.contract.outcomes import FailReason
from tilth.contract.prd import Plan, Status, Task
from tilth.contract.verdict import (
    Decision,
    Judged,
    LedgerEntry,
    RejectionCategory,
    person_reject,
)
from tilth.log.events import (
    Emit,
    EvaluatorVerdict,
    LedgerAppended,
    OperatorRequested,
    OperatorSpoke,
    TaskFailed,
)
from tilth.log.state import SessionState
from tilth.log.task_state import TaskState
from tilth.task.operator_briefs import OPERATOR_NOTE

TOO_LATE = "the session had stopped before it was heard"


class Words(Protocol):
    """Give what a person has said: what is on record, and what still waits to be taken up."""

    @property
    def state(self) -> SessionState: ...

    def waiting(self) -> tuple[OperatorWord, ...]: ...

    def coming(self) -> tuple[OperatorWord, ...]:
        """Give what waits now, also where its time in a run has not come."""

    def come_before(self, task: Task) -> bool:
        """Tell whether a verdict is heard before this task begins or lands: a replay knows."""

    def tries_again(self, task: Task) -> bool:
        """Tell whether this start tries a failed task again: a replay knows."""

    def answering(self, task_id: str, call_id: str) -> tuple[OperatorWord, ...]:
        """Give what can be the answer to a case or blocker that nobody has looked at yet."""

    def remove(self, word: OperatorWord) -> None: ...


class WordRecord(Protocol):
    """Keep the files that a word can change."""

    @property
    def id(self) -> str: ...

    @property
    def plan(self) -> Plan: ...

    def save_task(self, task: Task) -> Plan: ...

    def append_ledger_entry(self, entry: LedgerEntry) -> int: ...

    def read_ledger(self, task_id: str) -> tuple[LedgerEntry, ...]: ...

    def append_progress(self, line: str, *, again: bool = False) -> None: ...

    def append_request(self, request: OperatorRequest) -> None: ...

    def requests(self) -> tuple[OperatorRequest, ...]: ...


class Hearing(Protocol):
    """Be where words are taken up: a run, or a session at rest."""

    @property
    def record(self) -> WordRecord: ...

    @property
    def emit(self) -> Emit: ...

    @property
    def words(self) -> Words: ...

    def stamp(self) -> str: ...


@dataclass(frozen=True)
class Listener:
    """Name the conversation a word can come into, and the case or blocker it can answer there."""

    task_id: str
    conversation: str
    emit: Emit
    case: str | None = None


def waiting(hearing: Hearing) -> tuple[OperatorWord, ...]:
    """Give the words that were not taken up yet."""
    return unheard(hearing, hearing.words.waiting())


def unheard(hearing: Hearing, words: Iterable[OperatorWord]) -> tuple[OperatorWord, ...]:
    """Leave out the words that were taken up: a kill may have left one of them."""
    known = {word.id for word in hearing.words.state.words}
    found = []
    for word in words:
        if word.id in known:
            hearing.words.remove(word)
        else:
            found.append(word)
    return tuple(found)


def lands(plan: Plan, word: OperatorWord) -> bool:
    """Tell whether a word asks for a commit, which can only be made between two tasks."""
    task = plan.task(word.task or "")
    is_accept = word.decision is Decision.ACCEPT
    return is_accept and task is not None and task.status is Status.FAILED


def lands_at_rest(plan: Plan, word: OperatorWord) -> bool:
    """Tell whether a word asks for a commit where nothing runs that would make it."""
    task = plan.task(word.task or "")
    under_review = task is not None and task.status is Status.PENDING_EVAL
    return lands(plan, word) or (under_review and word.decision is Decision.ACCEPT)


def awaiting_landing(hearing: Hearing) -> frozenset[str]:
    """Name the failed tasks that a person has accepted and that land once no other is at work."""
    plan, known = hearing.record.plan, {word.id for word in hearing.words.state.words}
    coming = (word for word in hearing.words.coming() if word.id not in known)
    return frozenset(word.task or "" for word in coming if lands(plan, word))


def take_up(hearing: Hearing, word: OperatorWord, listener: Listener | None) -> OperatorSpoke:
    """Record a word and what it comes to; one whose time is over is recorded as refused."""
    try:
        spoken = understand(hearing, word, listener)
    except UserError as error:
        spoken = OperatorSpoke(**dict(word), refused=str(error))
    reach("before recording a word")
    mine = listener is not None and listener.task_id == spoken.task
    emit = listener.emit if listener and mine else hearing.emit.bind(task_id=spoken.task)
    emit(spoken)
    reach("after recording a word")
    settle(hearing)
    hearing.words.remove(word)
    return spoken


def understand(hearing: Hearing, word: OperatorWord, listener: Listener | None) -> OperatorSpoke:
    """Say what a word means as things stand, or raise UserError where it makes no sense."""
    plan, said = hearing.record.plan, dict(word)
    if word.verb is Verb.STOP:
        return OperatorSpoke(**said)
    if word.verb is Verb.TELL:
        task = told_tasks(plan, word.task)[0]
        known = hearing.words.state.task(task.id)
        if known.waits_to_land or (known.is_open and known.attempt.forced):
            # The plan does not say so yet: a kill came between the two.
            raise unread(task)
        about = _delivered(task, listener, OPERATOR_NOTE.format(text=word.text))
        if about and (call_id := _answered(known, listener)):
            about["call_id"] = call_id
        return OperatorSpoke(**{**said, "task": task.id}, **about)
    if word.verb is Verb.ANSWER:
        question = find_request(hearing.record.requests(), word.request or "", hearing.record.id)
        said |= {"task": question.task_id, "request": question.request}
        if question.kind is not RequestKind.BELOW_BAR:
            return OperatorSpoke(**said)
        said["decision"], _ = read_decision(word.text, question.request)
    task = find_task(plan, said["task"] or "")
    known = hearing.words.state.task(task.id)
    if word.verb is Verb.DROP:
        check_drop(task)
        return OperatorSpoke(**{**said, "task": task.id})
    tree = known.submitted.tree if known.submitted else None
    if said["decision"] is Decision.ACCEPT:
        check_accept(task)
        under_review = task.status is Status.PENDING_EVAL and listener is not None
        call_id = _answered(known, listener) if under_review else None
        return OperatorSpoke(**{**said, "task": task.id}, tree=tree, call_id=call_id)
    entry = _entry(hearing, known, {**said, "task": task.id})
    about = _sent_back(hearing, task, listener, entry)
    if task.status is Status.ACCEPTED:
        about = {"ends": True}
    return OperatorSpoke(**{**said, "task": task.id}, tree=tree, entry=entry, **about)


def _delivered(task: Task, listener: Listener | None, note: str) -> dict[str, Any]:
    if listener is None or listener.task_id != task.id:
        return {}
    return {"conversation": listener.conversation, "note": note}


def _sent_back(
    hearing: Hearing, task: Task, listener: Listener | None, entry: LedgerEntry
) -> dict[str, Any]:
    """Say where a reject comes in: as the result of the case that waits for one, or as a note."""
    if listener is None or listener.task_id != task.id:
        return {}
    if (call_id := _answered(hearing.words.state.task(task.id), listener)) is not None:
        return {"call_id": call_id}
    number = len(hearing.record.read_ledger(task.id))
    return _delivered(task, listener, format_reject_feedback(entry, number))


def _answered(known: TaskState, listener: Listener | None) -> str | None:
    """Name the case or blocker that a word is the answer to; what was sent back has its answer."""
    call_id = listener.case if listener else None
    since = known.attempt.last_answer
    verdicts = known.attempt.all(EvaluatorVerdict, since)
    ruled = [each.call_id for each in verdicts if not each.entry.accepted]
    said = [word.call_id for word in known.attempt.all(OperatorSpoke, since)]
    return call_id if call_id not in (*ruled, *said) else None


def _entry(hearing: Hearing, known: TaskState, said: dict[str, object]) -> LedgerEntry:
    text, category = str(said["text"]), said["category"]
    if said["verb"] is Verb.ANSWER:
        _, text = read_decision(text, str(said["request"]))
    case = known.submitted
    judged = Judged(
        ts=hearing.stamp(),
        task_id=str(said["task"]),
        iter=known.attempt.iterations,
        tree=case.tree if case else "",
        diff_sha256=case.diff_sha256 if case else "",
        validators={
            run.name: "passed" if run.passed else "failed" for run in known.attempt.validators
        },
    )
    kind = RejectionCategory(str(category or RejectionCategory.ACCEPTANCE_GAP))
    return person_reject(judged, category=kind, concern=text)


def settle(hearing: Hearing) -> None:
    """Put the files right from the log: ledgers, the plan, and the answers to requests."""
    state = hearing.words.state
    for task in hearing.record.plan.tasks:
        known = state.tasks.get(task.id)
        if known is not None:
            _settle_ledger(hearing, known, task.id)
            _settle_task(hearing, known, task)
    for word in state.words:
        if word.verb is Verb.ANSWER and word.refused is None:
            _settle_answer(hearing, word)


def _settle_ledger(hearing: Hearing, known: TaskState, task_id: str) -> None:
    have = len(hearing.record.read_ledger(task_id)) if known.verdict_events else 0
    for entry in known.ledger[have:]:
        entries = hearing.record.append_ledger_entry(entry)
        hearing.emit.bind(task_id=task_id)(LedgerAppended(entries=entries))


def _settle_task(hearing: Hearing, known: TaskState, task: Task) -> None:
    ended = (Status.DONE, Status.FAILED, Status.ACCEPTED)
    if known.is_being_dropped and not known.is_open:
        end_dropped(hearing, known, task)
    elif known.sent_back and task.status in ended:
        # What is in the branch stays there: the next round builds on it.
        again = task.round + (task.status is Status.DONE)
        counted = {"round": again, "rescue_count": task.rescue_count + 1}
        hearing.record.save_task(task.moved(Status.PENDING, **counted))
        reach("after sending a task back")
    elif known.cleared and task.quality_flag is not None:
        hearing.record.save_task(task.model_copy(update={"quality_flag": None}))
        reach("after clearing a flag")


def end_dropped(hearing: Hearing, known: TaskState, task: Task) -> None:
    """Mark a task failed that a person has given up; every step may have been taken before."""
    emit = hearing.emit.bind(
        task_id=task.id, trace_id=known.attempt.trace_id, iter=known.attempt.iterations
    )
    again = task.dropped
    if not again:
        hearing.record.save_task(task.moved(Status.FAILED, dropped=True))
    reach("after giving a task up")
    hearing.record.append_progress(f"{task.id} dropped: {task.title}", again=again)
    emit(
        TaskFailed(
            reason=FailReason.DROPPED,
            detail=known.dropped or "",
            iterations=known.attempt.iterations,
        )
    )
    reach("after telling that a task is given up")


def _settle_answer(hearing: Hearing, word: OperatorSpoke) -> None:
    request, state = word.request or "", hearing.words.state
    said = [each.said for each in state.requests]
    if not any(each.request == request and each.kind == RequestKind.ANSWER for each in said):
        answer = OperatorRequested(request=request, kind=RequestKind.ANSWER, text=word.text)
        hearing.emit.bind(task_id=word.task)(answer)
    lines = hearing.record.requests()
    if not any(line.request == request and line.kind is RequestKind.ANSWER for line in lines):
        hearing.record.append_request(
            OperatorRequest(
                ts=hearing.stamp(),
                request=request,
                task_id=word.task,
                kind=RequestKind.ANSWER,
                text=word.text,
            )
        )

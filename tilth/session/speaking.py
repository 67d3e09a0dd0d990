"""Speaking: one word of a person to a session, whether a process works on it or not.

A running session finds the word in its inbox. At rest it is taken up here, under the lock. What
makes no sense is refused before anything is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.errors import ProviderError, SessionBusy, UserError
from tilth.base.safe_text import is_blank
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.contract.operator_requests import RequestKind
from tilth.contract.operator_word import (
    UNDER_WAY,
    OperatorWord,
    Verb,
    check_accept,
    check_drop,
    clean_text,
    find_request,
    find_task,
    read_decision,
    told_tasks,
)
from tilth.contract.prd import Plan, Status
from tilth.contract.verdict import Decision, RejectionCategory
from tilth.git.source import open_source
from tilth.log.events import OperatorSpoke
from tilth.log.state import fold
from tilth.model.messages import Conversation, OnRetry, Turn
from tilth.session.at_rest import open_desk, restate, settle_inbox, take_up_waiting, wake
from tilth.session.branch import make_worktree
from tilth.session.catalog import find_session, holder_of, open_to_look, readable_sessions
from tilth.session.frontend import Frontend
from tilth.session.here import Here
from tilth.session.inbox import Inbox
from tilth.session.models import Models
from tilth.session.parts import Parts, new_id, open_parts, read_facts
from tilth.session.session import Session, SessionStatus
from tilth.session.store import wait_for_lock
from tilth.task.acceptance import accept, check_last_case
from tilth.task.words import lands_at_rest, take_up, understand

_TRIES = 200


@dataclass(frozen=True)
class Draft:
    """Hold what a person typed, still unchecked."""

    verb: Verb
    text: str = ""
    task: str | None = None
    category: str | None = None
    request: str | None = None


@dataclass(frozen=True)
class Spoken:
    """Say where a word went: to the process `pid`, or onto the record."""

    session: str
    words: tuple[OperatorWord, ...]
    pid: str | None = None
    taken_up: tuple[OperatorSpoke, ...] = ()
    waits: bool = False


@dataclass(frozen=True)
class Stopped:
    """Say which session has stopped, and whether it was running at all."""

    session: str | None
    was_running: bool


def speak(settings: Settings, wanted: str, draft: Draft, mask: Mask, frontend: Frontend) -> Spoken:
    """Say one word to a session: at once where it rests, through its inbox where it runs."""
    name = find_session(settings.sessions_dir, wanted)
    for _ in range(_TRIES):
        session = Session.look(settings.sessions_dir, name, mask=mask)
        holder = holder_of(session)
        if holder is not None:
            words = _words(session, draft, mask)
            _put(session, words)
            if holder_of(session) is None:
                # It ended in between, and may not have looked again.
                settle_inbox(session.directory, mask)
            return Spoken(name, words, pid=holder)
        with suppress(SessionBusy), _locked(settings, name, mask) as locked:
            return _at_rest(settings, locked, draft, mask, frontend)
    raise SessionBusy(f"session {name} is taken up again and again; try once more")


def stop(settings: Settings, wanted: str | None, frontend: Frontend) -> Stopped:
    """Ask a running session to stop and wait until it has."""
    session = _running(settings, wanted)
    if session is None:
        return Stopped(None, was_running=False)
    holder = holder_of(session)
    if holder is None:
        return Stopped(session.id, was_running=False)
    _refuse_interview(session)
    word = OperatorWord(id=new_id(), verb=Verb.STOP)
    Inbox(session.directory).put(word, SystemClock())
    frontend.tell(f"asked session {session.id} (process {holder}) to stop at its next safe point")
    wait_for_lock(session.directory / "lock")
    settle_inbox(session.directory, Mask())
    return Stopped(session.id, was_running=True)


def _running(settings: Settings, wanted: str | None) -> Session | None:
    if wanted is not None:
        return open_to_look(settings, wanted)
    here = Here.find()
    everywhere = [each for each in readable_sessions(settings) if holder_of(each) is not None]
    running = [each for each in everywhere if here is None or here.is_of(each)]
    if everywhere and not running:
        names = ", ".join(session.id for session in everywhere)
        raise UserError(f"no session of {here and here.root} is running; elsewhere: {names}")
    if len(running) > 1:
        names = ", ".join(session.id for session in running)
        raise UserError(f"{len(running)} sessions are running; name one of {names}")
    return running[0] if running else None


@contextmanager
def _locked(settings: Settings, name: str, mask: Mask) -> Iterator[Session]:
    session = Session.open_locked(settings.sessions_dir, name, clock=SystemClock(), mask=mask)
    try:
        yield session
    finally:
        session.release()
        settle_inbox(session.directory, mask)


def _at_rest(
    settings: Settings, session: Session, draft: Draft, mask: Mask, frontend: Frontend
) -> Spoken:
    _refuse_interview(session)
    before = wake(session, mask)
    words = _words(session, draft, mask)
    if any(lands_at_rest(session.plan, word) for word in words):
        return _land(settings, session, words[0], frontend)
    with open_desk(session, mask, before) as desk:
        # First to see whether they make sense: what is refused leaves nothing behind.
        for word in words:
            understand(desk, word, desk.listener_for(word))
        take_up_waiting(desk)
        taken_up = tuple(take_up(desk, word, desk.listener_for(word)) for word in words)
    return Spoken(session.id, words, taken_up=taken_up)


def _land(settings: Settings, session: Session, word: OperatorWord, frontend: Frontend) -> Spoken:
    """Land what a person accepts; while another is under way its base must not move: it waits."""
    if any(task.id != word.task for task in session.plan.with_status(*UNDER_WAY)):
        _put(session, (word,))
        return Spoken(session.id, (word,), waits=True)
    source = open_source(Path(session.checkpoint.source))
    facts = read_facts(source, session.checkpoint.base_commit)
    with open_parts(settings.under(facts), source, facts, frontend) as parts:
        parts = replace(parts, open_models=_nobody)
        spoken = accept_at_rest(parts, session, word, strict=True)
    return Spoken(session.id, (word,), taken_up=(spoken,))


def accept_at_rest(
    parts: Parts, session: Session, word: OperatorWord, *, strict: bool
) -> OperatorSpoke:
    """Land what a failed task's last case left, in the session's own worktree."""
    memory = fold(session.events())
    workspace = parts.workspace(session)
    with parts.open_run(session, memory) as context:
        make_worktree(session, workspace, memory)
        spoken = accept(parts.bench(context, session, workspace), word, strict=strict)
        restate(session)
    return spoken


class _Nobody:
    """Stand where a model would: a landing on a person's word asks none."""

    name = endpoint = "none"

    def respond(self, conversation: Conversation, on_retry: OnRetry) -> Turn:
        raise ProviderError("a person's word is carried out without a model")


@contextmanager
def _nobody(parts: Parts) -> Iterator[Models]:
    yield Models(_Nobody(), lambda task: _Nobody())


def _put(session: Session, words: tuple[OperatorWord, ...]) -> None:
    inbox, clock = Inbox(session.directory), SystemClock()
    for word in words:
        inbox.put(word, clock)


def _words(session: Session, draft: Draft, mask: Mask) -> tuple[OperatorWord, ...]:
    """Check what was typed against the session as it stands, and make it words."""
    _refuse_interview(session)
    plan = session.plan
    may_be_none = draft.verb in (Verb.ACCEPT, Verb.DROP) and is_blank(draft.text)
    text = "" if may_be_none else mask.result(clean_text(draft.text, _WHAT[draft.verb]))
    if draft.verb is Verb.TELL:
        return _notes(plan, draft, text)
    word = OperatorWord(id=new_id(), verb=draft.verb, text=text)
    if draft.verb is Verb.ANSWER:
        question = find_request(session.requests(), draft.request or "", session.id)
        if question.kind is RequestKind.BELOW_BAR:
            read_decision(text, question.request)
        told = {"request": question.request, "task": question.task_id}
        return (word.model_copy(update=told),)
    task = find_task(plan, draft.task or "")
    if draft.verb is Verb.DROP:
        check_drop(task)
        return (word.model_copy(update={"task": task.id}),)
    said: dict[str, object] = {"task": task.id, "decision": Decision(draft.verb)}
    if draft.verb is Verb.ACCEPT:
        check_accept(task)
        if task.status is Status.FAILED:
            check_last_case(task, fold(session.events()).task(task.id))
    else:
        said["category"] = _category(draft.category)
    return (word.model_copy(update=said),)


_WHAT = {
    Verb.TELL: "the note",
    Verb.ANSWER: "the answer",
    Verb.REJECT: "the reason",
    Verb.ACCEPT: "the note",
    Verb.DROP: "the note",
}


def _notes(plan: Plan, draft: Draft, text: str) -> tuple[OperatorWord, ...]:
    tasks = told_tasks(plan, draft.task)
    # Of one task it is told when it is heard which it is: the next one, if this one is over then.
    named = [task.id for task in tasks] if draft.task or len(tasks) > 1 else [None]
    return tuple(OperatorWord(id=new_id(), verb=Verb.TELL, task=name, text=text) for name in named)


def _category(wanted: str | None) -> RejectionCategory | None:
    if wanted is None:
        return None
    try:
        return RejectionCategory(wanted.strip().lower().replace("-", "_"))
    except ValueError:
        known = ", ".join(RejectionCategory)
        raise UserError(f"there is no category {wanted!r}; it is one of {known}") from None


def _refuse_interview(session: Session) -> None:
    if session.checkpoint.status is SessionStatus.INTERVIEWING or not session.has_plan:
        raise UserError(
            f"session {session.id} is an interview: it has no task yet; speak to it where it asks"
        )


def secrets_in(settings: Settings, environ: Mapping[str, str] = os.environ) -> Mask:
    """Give the mask for what a person types."""
    from tilth.model.reviewers import read_reviewers

    return read_reviewers(settings, environ).mask(settings)

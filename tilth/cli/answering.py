"""`tilth answer`: a person's answer to a question, put on record for the next attempt."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tilth.cli.edge import tell
from tilth.clock import SystemClock, stamp
from tilth.errors import UserError
from tilth.eventlog import Emitter, EventLog
from tilth.inert import one_line
from tilth.mask import Mask
from tilth.outcomes import ExitCode
from tilth.payloads import OperatorRequested
from tilth.requests import OperatorRequest, still_open
from tilth.reviewers import read_reviewers
from tilth.session import Session, find_session
from tilth.settings import known_secrets, load
from tilth.summary import fold

LONGEST = 20_000


def answer(wanted: str, request: str, text: str, *, environ: Mapping[str, str] = os.environ) -> int:
    """Record an answer under the session's lock, and say what to type next."""
    settings = load({}, environ)
    words = _checked(text)
    name = find_session(settings.sessions_dir, wanted)
    mask = Mask((*known_secrets(settings), *read_reviewers(settings, environ).secrets))
    session = Session.wake(settings.sessions_dir, name, clock=SystemClock(), mask=mask)
    try:
        question = _question(session, request)
        _record(session, question, mask.known(words), mask)
        left = still_open(session.requests())
    finally:
        session.release()
    tell(f"{question.request} is answered; the next attempt at {question.task_id} sees it")
    for other in left:
        tell(f"still open: {other.request} ({other.task_id}): {one_line(other.text)}")
    tell(f"next: tilth resume {session.id}")
    return ExitCode.DONE


def _checked(text: str) -> str:
    words = text.strip()
    if not words:
        raise UserError('the answer is empty; give it as one argument: tilth answer ID R-001 "…"')
    if len(words) > LONGEST:
        raise UserError(f"the answer has {len(words)} characters; at most {LONGEST} are kept")
    return words


def _question(session: Session, wanted: str) -> OperatorRequest:
    """Find the request that is to be answered, or say which ones could be."""
    lines = session.requests()
    asked = {line.request: line for line in lines if line.kind != "answer"}
    name = wanted.strip().upper()
    if name not in asked:
        known = ", ".join(asked) or "none"
        raise UserError(f"session {session.id} has no request {wanted!r}; it has: {known}")
    later = [line for line in lines if line.request == name]
    if later[-1].kind == "answer":
        raise UserError(
            f"{name} is answered already: {one_line(later[-1].text, 120)!r}; "
            f"go on with `tilth resume {session.id}`"
        )
    return asked[name]


def _record(session: Session, question: OperatorRequest, words: str, mask: Mask) -> None:
    """Put the answer into the log, which is the truth, then where an attempt reads it."""
    clock = SystemClock()
    last_seq = max((line["seq"] for line in session.events()), default=0)
    log = EventLog(session.log_path, session=session.id, clock=clock, mask=mask, last_seq=last_seq)
    try:
        emit = Emitter(log).bind(task_id=question.task_id)
        emit(OperatorRequested(request=question.request, kind="answer", text=words))
    finally:
        log.close()
    session.append_request(
        OperatorRequest(
            ts=stamp(clock.now()),
            request=question.request,
            task_id=question.task_id,
            kind="answer",
            text=words,
        )
    )
    session.save_summary(fold(session.events()).to_json())

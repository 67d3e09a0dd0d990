"""The person's commands: what was said, where it went, and what to type next."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from tilth.base.errors import UserError
from tilth.base.safe_text import one_line
from tilth.config.settings import load
from tilth.contract.operator_requests import still_open
from tilth.contract.operator_word import LONGEST, Verb
from tilth.contract.outcomes import ExitCode
from tilth.contract.prd import TASK_ID, Plan
from tilth.contract.verdict import Decision
from tilth.log.events import OperatorSpoke
from tilth.session.catalog import open_to_look
from tilth.session.frontend import Frontend
from tilth.session.session import Session
from tilth.session.speaking import Draft, Spoken, secrets_in, speak
from tilth.session.speaking import stop as stop_session
from tilth.show.notices import tell

# A character has at most four bytes; one byte more than can be allowed shows that it is too long.
_MOST_BYTES = 4 * LONGEST + 1


def say_word(wanted: str, draft: Draft, *, environ: Mapping[str, str] = os.environ) -> int:
    """Say one word to a session, and tell the person what came of it."""
    settings = load({}, environ)
    if draft.text == "-":
        draft = Draft(**{**vars(draft), "text": _from_stdin()})
    frontend = Frontend(tell=tell)
    spoken = speak(settings, wanted, draft, secrets_in(settings, environ), frontend)
    session = open_to_look(settings, spoken.session)
    if spoken.pid is not None:
        tell(f"session {spoken.session} runs (process {spoken.pid}); {_WILL[draft.verb]}")
    elif spoken.waits:
        tell("another task is under way: it lands as soon as that one has ended")
        tell(f"next: tilth resume {spoken.session}")
    else:
        _tell_taken_up(session, spoken)
    return ExitCode.DONE


def tell_worker(
    wanted: str, words: Sequence[str], *, environ: Mapping[str, str] = os.environ
) -> int:
    """Leave a note; with two texts the first names the task."""
    if len(words) > 2:
        raise UserError(f'the note is one argument, in quotes: `tilth tell {wanted} "…"`')
    if len(words) == 1 and TASK_ID.fullmatch(words[0].strip()):
        raise UserError(f'what is {words[0]} to be told? `tilth tell {wanted} {words[0]} "…"`')
    *named, text = words
    task = named[0] if named else None
    return say_word(wanted, Draft(Verb.TELL, text, task=task), environ=environ)


def stop(wanted: str | None, *, environ: Mapping[str, str] = os.environ) -> int:
    """Stop a running session, and say when it has."""
    stopped = stop_session(load({}, environ), wanted, Frontend(tell=tell))
    if stopped.session is None:
        tell("no session is running")
    elif not stopped.was_running:
        tell(f"session {stopped.session} is not running")
    else:
        tell(f"session {stopped.session} has stopped; go on with `tilth resume {stopped.session}`")
    return ExitCode.DONE


_WILL = {
    Verb.TELL: "the worker reads it in its next message, if its case is not accepted before",
    Verb.ANSWER: "it takes the answer up at its next safe point",
    Verb.ACCEPT: "it takes the verdict up at its next safe point",
    Verb.REJECT: "it takes the verdict up at its next safe point",
    Verb.DROP: "it gives the task up at its next safe point",
}


def _from_stdin() -> str:
    data = sys.stdin.buffer.read(_MOST_BYTES)
    return data.decode("utf-8", "surrogateescape")


def _tell_taken_up(session: Session, spoken: Spoken) -> None:
    for word in spoken.taken_up:
        tell(_came_of(word))
    plan = session.plan
    for task in plan.tasks:
        upstream = plan.builds_on_sent_back(task)
        if upstream:
            tell(f"{task.id} is done, but built on {', '.join(upstream)}, which was sent back")
    for other in still_open(session.requests()):
        tell(f"still open: {other.request} ({other.task_id}): {one_line(other.text)}")
    tell(f"next: {_next(plan, spoken)}")


def _came_of(word: OperatorSpoke) -> str:
    about = f"{word.request} is answered; " if word.request else ""
    match word.verb, word.decision:
        case Verb.TELL, _:
            return f"noted; the worker of {word.task} reads it in its next message"
        case Verb.DROP, _:
            return (
                f"{word.task} is dropped: no resume tries it again, `tilth reject` brings it back"
            )
        case _, Decision.REJECT:
            return f"{about}{word.task} goes back to work; what you said is its first concern"
        case _, Decision.ACCEPT:
            return f"{about}{word.task} is accepted by you"
    return f"{about}the next attempt at {word.task} sees it"


def _next(plan: Plan, spoken: Spoken) -> str:
    if plan.all_done:
        return f"tilth info {spoken.session}"
    return f"tilth resume {spoken.session}"

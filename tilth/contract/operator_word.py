"""The operator's word: what a person says to a session, and whether it makes sense.

A word is checked where it is spoken, against the plan as it stands, and again where it is taken up.
Nothing here reads a file or writes one.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from tilth.base.errors import UserError
from tilth.base.safe_text import inert, is_blank, one_line
from tilth.base.values import Value
from tilth.contract.operator_requests import OperatorRequest, RequestKind
from tilth.contract.prd import Plan, Status, Task
from tilth.contract.verdict import Decision, RejectionCategory

LONGEST = 20_000
UNDER_WAY = (Status.IN_PROGRESS, Status.PENDING_EVAL)
# Whose worker has handed in its work for good, and in which words that is said.
_OVER = {Status.DONE: "done", Status.ACCEPTED: "accepted and waits to land"}


class Verb(StrEnum):
    """Name what a person can do to a session."""

    TELL = "tell"
    STOP = "stop"
    ANSWER = "answer"
    ACCEPT = "accept"
    REJECT = "reject"
    DROP = "drop"


class OperatorWord(Value):
    """Hold one word; its id tells a word that is taken up twice from two that are alike."""

    id: str
    verb: Verb
    task: str | None = None
    text: str = ""
    category: RejectionCategory | None = None
    request: str | None = None
    # What a verdict comes to; an answer to a flag is one too.
    decision: Decision | None = None


def clean_text(text: str, what: str) -> str:
    """Give a person's text with all that acts made visible; refuse one that is empty or too long.

    What stands at its ends and is not seen is left out.
    """
    words = text.strip()
    if is_blank(words):
        raise UserError(f"{what} is empty; give it as one argument, or - to read it from stdin")
    if len(words) > LONGEST:
        raise UserError(
            f"{what} has more than {LONGEST:,} characters; say it more briefly, or put it into a "
            "file of the repository and name that"
        )
    return inert(words)


def find_task(plan: Plan, wanted: str) -> Task:
    """Find the task a person names, or say which there are."""
    task = plan.task(wanted.strip().upper())
    if task is None:
        known = ", ".join(each.id for each in plan.tasks)
        raise UserError(f"there is no task {inert(wanted)!r}; this session has {known}")
    return task


def told_tasks(plan: Plan, wanted: str | None) -> tuple[Task, ...]:
    """Give the tasks a note is for: the named one, else those under way, else the next."""
    if wanted is not None:
        task = find_task(plan, wanted)
        if task.status in _OVER or task.dropped:
            raise unread(task)
        return (task,)
    under_way = plan.with_status(*UNDER_WAY)
    if under_way:
        return under_way
    coming = plan.next_pending()
    open_ones = tuple(t for t in plan.tasks if t.status not in _OVER and not t.dropped)
    left = (coming,) if coming else open_ones[:1]
    if not left:
        over = " or ".join(dict.fromkeys(map(_how_over, plan.tasks)))
        raise UserError(f"every task is {over}, so nobody would read it; see `tilth reject`")
    return left


def unread(task: Task) -> UserError:
    """Say that a note to a task comes too late: it is done, or as good as that."""
    return UserError(
        f"{task.id} is {_how_over(task)}, so nobody would read it; send it back to work with "
        "`tilth reject`"
    )


def _how_over(task: Task) -> str:
    return "dropped" if task.dropped else _OVER.get(task.status, _OVER[Status.ACCEPTED])


def check_drop(task: Task) -> None:
    """Refuse to give up a task that is done, or was given up before."""
    if task.status is Status.DONE:
        raise UserError(
            f"{task.id} is done, so it cannot be dropped; `tilth reject` sends it back to work"
        )
    if task.dropped:
        raise UserError(f"{task.id} is dropped already; `tilth reject` brings it back")


def check_accept(task: Task) -> None:
    """Refuse an accept of a task that is neither done nor failed, nor under review."""
    if task.status not in (Status.DONE, Status.FAILED, Status.PENDING_EVAL):
        raise UserError(
            f"{task.id} is {task.status}: only a task that is done, failed or under review can be "
            "accepted; wait for its case"
        )


def find_request(lines: Sequence[OperatorRequest], wanted: str, session: str) -> OperatorRequest:
    """Find the request that is to be answered, or say which ones could be."""
    asked = {line.request: line for line in lines if line.kind is not RequestKind.ANSWER}
    name = wanted.strip().upper()
    if name not in asked:
        known = ", ".join(asked) or "none"
        raise UserError(f"session {session} has no request {inert(wanted)!r}; it has: {known}")
    said = [line.text for line in lines if line.request == name and line.kind is RequestKind.ANSWER]
    if said:
        raise UserError(
            f"{name} is answered already: {one_line(said[-1], 120)!r}; "
            f"go on with `tilth resume {session}`"
        )
    return asked[name]


def read_decision(text: str, request: str) -> tuple[Decision, str]:
    """Read the verdict an answer to a flag must be: its first word, and the rest as its text."""
    first, rest = (*text.split(maxsplit=1), "")[:2]
    said = first.strip().strip(".,:;!").lower()
    if said not in tuple(Decision):
        raise UserError(
            f"{request} asks for a verdict: begin the answer with `accept` or `reject`, "
            f"got {inert(first)[:40]!r}"
        )
    if said == Decision.REJECT and is_blank(rest):
        raise UserError(f'{request}: a reject needs its reason: "reject the dates are wrong"')
    return Decision(said), rest.strip()

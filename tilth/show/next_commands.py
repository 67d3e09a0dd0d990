"""The next commands: what is useful to type next, the most useful first.

Pure: from where a session stands to what a person could type. The last screen of a run, `tilth`
and `tilth info` all ask here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from tilth.contract.outcomes import StopReason
from tilth.session.session import SessionStatus
from tilth.show.session_row import BROKEN, INTERRUPTED, SessionRow
from tilth.task.budget import CAP_SETTINGS

# The time is each start's own; these two stay used up.
_RAISE_FIRST = {
    str(reason): CAP_SETTINGS[reason] for reason in (StopReason.TOKEN_CAP, StopReason.COST_CAP)
}


def next_commands(
    row: SessionRow,
    *,
    open_requests: Sequence[str] = (),
    last_stop: str | None = None,
    shows: bool = True,
) -> tuple[str, ...]:
    """Say what to type next for one session; without `shows`, nothing that shows a task."""
    only = _only_command(row)
    return (only,) if only else tuple(_commands(row, open_requests, last_stop, shows=shows))


def _only_command(row: SessionRow) -> str | None:
    """Name the one thing that makes sense where a session is not at rest after work."""
    if row.log_lost:
        return f"put events.jsonl back, or give the session up: tilth reset {row.session}"
    if row.status == BROKEN:
        # A resume mends what it can and names what it cannot; a reset only takes away.
        return f"tilth resume {row.session}"
    if row.status == SessionStatus.FAILED and not row.total:
        # A failed interview has no plan: there is nothing in it that could go on.
        return f"tilth reset {row.session}"
    return {
        SessionStatus.RUNNING.value: f"tilth events {row.session} --follow",
        SessionStatus.INTERVIEWING.value: f"tilth prep-feature {shlex.quote(row.source)}",
        SessionStatus.PREPARED.value: f"tilth run {shlex.quote(row.source)}",
    }.get(row.status)


def _commands(
    row: SessionRow, open_requests: Sequence[str], last_stop: str | None, *, shows: bool
) -> Iterator[str]:
    name = row.session
    for request in open_requests:
        yield f'tilth answer {name} {request} "…"'
    if last_stop == StopReason.PROVIDER_FAILURE and row.status != INTERRUPTED:
        yield "tilth doctor --online"
    if row.status != SessionStatus.DONE and not row.nothing_left:
        first = _RAISE_FIRST.get(last_stop or "")
        yield f"raise {first}, then: tilth resume {name}" if first else f"tilth resume {name}"
    for task_id in (*row.failed, *row.below_bar) if shows else ():
        yield f"tilth show {name} {task_id}"
    if not set(row.done_tasks) <= set(row.taken):
        yield f"tilth take {name}" if row.base_branch else f"tilth take {name} --into BRANCH"
    if row.done_tasks:
        span = f"{row.base_commit[:12]}..{row.branch}"
        yield f"git -C {shlex.quote(row.source)} log {shlex.quote(span)}"

"""Advice: the commands that are useful next, the most useful first.

Pure: from where a session stands to what a person could type.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from tilth.cli.looking.glance import BROKEN, INTERRUPTED, Glance
from tilth.outcomes import StopReason
from tilth.session import SessionStatus

_RAISE_FIRST = {
    StopReason.TOKEN_CAP.value: "TILTH_MAX_TOKENS",
    StopReason.COST_CAP.value: "TILTH_MAX_COST_USD",
}


def next_commands(
    seen: Glance, *, open_requests: Sequence[str] = (), last_stop: str | None = None
) -> tuple[str, ...]:
    """Say what to type next for one session."""
    return tuple(_commands(seen, open_requests, last_stop))


def _commands(seen: Glance, open_requests: Sequence[str], last_stop: str | None) -> Iterator[str]:
    name = seen.session
    # A failed interview has no plan: there is nothing in it that could go on.
    if seen.status == BROKEN:
        # A resume mends what it can and names what it cannot; a reset only takes away.
        yield f"tilth resume {name}"
        return
    if seen.status == SessionStatus.FAILED and not seen.total:
        yield f"tilth reset {name}"
        return
    if seen.status == SessionStatus.RUNNING:
        yield f"tilth events {name} --follow"
        return
    if seen.status == SessionStatus.INTERVIEWING:
        yield f"tilth prep-feature {shlex.quote(seen.source)}"
        return
    if seen.status == SessionStatus.PREPARED:
        yield f"tilth run {shlex.quote(seen.source)}"
        return
    for request in open_requests:
        yield f'tilth answer {name} {request} "…"'
    if last_stop == StopReason.PROVIDER_FAILURE and seen.status != INTERRUPTED:
        yield "tilth doctor --online"
    if seen.status != SessionStatus.DONE:
        first = _RAISE_FIRST.get(last_stop or "")
        yield f"raise {first}, then: tilth resume {name}" if first else f"tilth resume {name}"
    for task_id in (*seen.failed, *seen.below_bar):
        yield f"tilth show {name} {task_id}"
    if seen.done:
        span = f"{seen.base_commit[:12]}..{seen.branch}"
        yield f"git -C {shlex.quote(seen.source)} log {shlex.quote(span)}"

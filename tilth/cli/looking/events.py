"""`tilth events`: the event log, one line an event, once or as it grows."""

from __future__ import annotations

import difflib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilth.cli.edge import tell
from tilth.cli.finding import find
from tilth.cli.looking.page import Page, escaped
from tilth.cli.looking.phrases import describe
from tilth.cli.looking.tail import Line, Tail
from tilth.errors import UserError
from tilth.events import EVENT_TYPES
from tilth.inert import one_line
from tilth.outcomes import ExitCode
from tilth.session import Session
from tilth.store import lock_holder

_POLL_S = 0.3
_TYPE_WIDTH = max(map(len, EVENT_TYPES))


@dataclass(frozen=True)
class Wanted:
    """Say which events are asked for; nothing named means all of them."""

    types: frozenset[str] = frozenset()
    task_id: str | None = None

    def admits(self, event: Mapping[str, Any]) -> bool:
        """Tell whether an event is asked for."""
        return (not self.types or event.get("type") in self.types) and (
            self.task_id is None or event.get("task_id") == self.task_id
        )


def events(
    session: str,
    *,
    types: Sequence[str] = (),
    task_id: str | None = None,
    follow: bool = False,
    raw: bool = False,
    environ: Mapping[str, str] = os.environ,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Print a session's events."""
    _check_types(types)
    found = find(session, environ)
    _check_task(found, task_id)
    wanted = Wanted(frozenset(types), task_id)
    page = Page.out(environ)
    for line in _followed(found, sleep) if follow else Tail(found.log_path).lines():
        if wanted.admits(line.event):
            page.line(_raw(line) if raw else _told(line.event))
            if follow:
                sys.stdout.flush()
    return ExitCode.DONE


def _check_types(types: Sequence[str]) -> None:
    for name in types:
        if name not in EVENT_TYPES:
            near = difflib.get_close_matches(name, EVENT_TYPES, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UserError(
                f"there is no event type {name!r}; {hint}there are {', '.join(EVENT_TYPES)}"
            )


def _check_task(session: Session, task_id: str | None) -> None:
    if task_id is not None and session.plan.task(task_id) is None:
        known = ", ".join(task.id for task in session.plan.tasks)
        raise UserError(f"session {session.id} has no task {task_id!r}; it has {known}")


def _followed(session: Session, sleep: Callable[[float], None]) -> Iterator[Line]:
    """Give lines as they come, until nobody works on the session any more."""
    tail = Tail(session.log_path)
    stopped = False
    while True:
        # Asked before the log is read: what is written in between is seen the next time round.
        held = lock_holder(session.directory / "lock") is not None
        for line in tail.lines():
            stopped = line.event.get("type") == "stop"
            yield line
        if not held:
            break
        sleep(_POLL_S)
    if not stopped:
        tell(f"nobody works on session {session.id}, and it did not stop by itself")


def _raw(line: Line) -> str:
    return escaped(line.raw.decode("utf-8", "surrogatepass").rstrip("\n"))


def _told(event: Mapping[str, Any]) -> str:
    iteration = event.get("iter")
    where = f"{event.get('task_id') or '-'}{'' if iteration is None else f'/{iteration}'}"
    when = str(event.get("ts", ""))[11:23]
    kind = one_line(str(event.get("type")), 40)
    head = f"{event.get('seq'):>5} {one_line(when, 12)} {one_line(where, 20):<9}"
    return f"{head} {kind:<{_TYPE_WIDTH}} {describe(event)}".rstrip()

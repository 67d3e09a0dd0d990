"""`tilth events`: the event log, one line an event, once or as it grows."""

from __future__ import annotations

import difflib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tilth.base.errors import UserError
from tilth.base.safe_text import one_line
from tilth.config.secrets import Mask
from tilth.contract.outcomes import ExitCode
from tilth.log.events import EVENT_TYPES, Event
from tilth.log.reader import Tail
from tilth.session.catalog import holder_of
from tilth.session.session import Session
from tilth.session.shown_mask import find_to_show
from tilth.show.lines import full
from tilth.show.notices import tell
from tilth.show.pen import is_utf8
from tilth.show.tables import Page, escaped
from tilth.show.times import clock_time

_POLL_S = 0.3
_TYPE_WIDTH = max(map(len, EVENT_TYPES))


@dataclass(frozen=True)
class Wanted:
    """Say which events are asked for; nothing named means all of them."""

    types: frozenset[str] = frozenset()
    task_id: str | None = None

    def admits(self, event: Event) -> bool:
        """Tell whether an event is asked for."""
        return (not self.types or event.type in self.types) and (
            self.task_id is None or event.task_id == self.task_id
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
    found = find_to_show(session, environ)
    _check_task(found, task_id)
    wanted = Wanted(frozenset(types), task_id)
    page = Page.out(environ)
    for line, event in _followed(found, sleep) if follow else Tail(found.log_path).lines():
        if wanted.admits(event):
            page.line(_raw(line, found.mask) if raw else _told(event, found.mask))
            if follow:
                sys.stdout.flush()
    return ExitCode.DONE


def print_digest(session: str, *, environ: Mapping[str, str] = os.environ) -> int:
    """Print a session's whole record as one compact text."""
    from tilth.show.digest import digest
    from tilth.show.report_view import view_report

    found = find_to_show(session, environ)
    view = view_report(found)
    Page.out(environ, found.mask).line(digest(view.report, view.state).removesuffix("\n"))
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


def _followed(session: Session, sleep: Callable[[float], None]) -> Iterator[tuple[bytes, Event]]:
    """Give lines as they come, until nobody works on the session any more."""
    tail = Tail(session.log_path)
    stopped = False
    while True:
        # Asked before the log is read: what is written in between is seen the next time round.
        held = holder_of(session) is not None
        for line, event in tail.lines():
            stopped = event.type == "stop"
            yield line, event
        if not held:
            break
        sleep(_POLL_S)
    if not stopped:
        tell(f"nobody works on session {session.id}, and it did not stop by itself")


def _raw(line: bytes, mask: Mask) -> str:
    text = line.decode("utf-8", "surrogatepass").rstrip("\n")
    said = json.loads(text)
    hidden = mask.data(said)
    # Hidden in its values, not in its text: a key made of digits must not break a number.
    if hidden != said:
        text = json.dumps(hidden, ensure_ascii=False, separators=(",", ":"))
    text = escaped(text)
    if is_utf8(sys.stdout.encoding):
        return text
    # Data is written exactly: beyond ASCII there are only texts, in which JSON has its own escapes.
    return "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in text)


def _told(event: Event, mask: Mask) -> str:
    # Hidden before the line is cut: half a key is one that nothing finds any more.
    event = event._replace(payload=mask.data(event.payload))
    iteration = event.scope.iter
    where = f"{event.task_id or '-'}{'' if iteration is None else f'/{iteration}'}"
    kind = one_line(event.type, 40)
    when = one_line(clock_time(event.ts, precise=True), 20)
    head = f"{event.seq:>5} {when} {one_line(where, 20):<9}"
    return mask.known(f"{head} {kind:<{_TYPE_WIDTH}} {full(event)}".rstrip())

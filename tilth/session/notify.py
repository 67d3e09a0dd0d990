"""Notifications: word to a person when a run ends or needs one, told from the events alone.

A notifier is a sink beside the log. It sends from a thread of its own, so a slow channel slows no
run, and what became of each notice is told when the run closes. A notice that cannot be sent is a
warning, never an ending.
"""

from __future__ import annotations

import json
import logging
import queue
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from tilth.base.errors import CorruptSession
from tilth.base.quiet import without_warnings
from tilth.base.safe_text import folded, inert, one_line
from tilth.base.values import Value, jsonable
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.contract.operator_requests import RequestKind
from tilth.contract.prd import Plan, Status
from tilth.log.events import CapWarning, Event, Notified, OperatorRequested, QuotaWait, Stop
from tilth.sandbox.program import give
from tilth.show.times import local_time

COMMAND_TIMEOUT_S = 10.0
CLOSING_S = 15.0


class NoticeKind(StrEnum):
    """Say what a person is told of."""

    END = "end"
    QUESTION = "question"
    QUOTA_WAIT = "quota_wait"
    CAP_WARNING = "cap_warning"
    TEST = "test"


class Notice(Value):
    """Hold what a person is told; as JSON it is what the command reads on stdin."""

    kind: NoticeKind
    session: str
    outcome: str | None = None
    exit_code: int | None = None
    task: str | None = None
    text: str


class Channel(Protocol):
    """Reach a person; `send` gives what went wrong, if anything did."""

    @property
    def name(self) -> str: ...

    def send(self, notice: Notice) -> str | None: ...


@dataclass(frozen=True)
class CommandChannel:
    """Hand a notice to a program of the user's, as one JSON on stdin."""

    argv: tuple[str, ...]
    environ: Mapping[str, str]
    name: str = "command"

    def send(self, notice: Notice) -> str | None:
        text = json.dumps(jsonable(notice), ensure_ascii=False) + "\n"
        return give(self.argv, text, timeout_s=COMMAND_TIMEOUT_S, environ=self.environ)


@dataclass(frozen=True)
class AppriseChannel:
    """Send a notice through Apprise to one of the services it knows."""

    url: str = field(repr=False)
    name: str = "apprise"

    def send(self, notice: Notice) -> str | None:
        # It loads what a later Python will not have; that is no news to our user.
        with without_warnings(DeprecationWarning):
            try:
                import apprise
            except ImportError:
                return "Apprise is not installed: install `tilth[notify]`"
            # It reports on its own logger, addresses and all.
            logging.getLogger("apprise").disabled = True
            service = apprise.Apprise()
            if not service.add(self.url):
                return "Apprise does not know such an address"
        sent = service.notify(body=notice.text, title=f"Tilth: {notice.kind.replace('_', ' ')}")
        return None if sent else "the service refused it or was not reached"


def channels(settings: Settings, environ: Mapping[str, str]) -> tuple[Channel, ...]:
    """Give the channels that the settings name; an address is named by its scheme alone."""
    found: list[Channel] = []
    for number, secret in enumerate(settings.notify, start=1):
        url = secret.get_secret_value()
        found.append(AppriseChannel(url, f"{url.partition('://')[0][:20]} ({number})"))
    if settings.notify_command:
        found.append(CommandChannel(tuple(shlex.split(settings.notify_command)), dict(environ)))
    return tuple(found)


def notice_of(event: Event, plan: Plan | None = None) -> Notice | None:
    """Say what a person should hear of an event, if anything."""
    session, task = event.session, event.scope.task_id
    match event.payload:
        case Stop(reason=reason, exit_code=code, detail=detail):
            done = len(plan.with_status(Status.DONE)) if plan else 0
            tasks = f", {done} of {len(plan.tasks)} tasks done" if plan else ""
            # All done says how many, too.
            rest = detail.removeprefix(f"{done} of {len(plan.tasks)}") if plan else detail
            # Uncut: an error names its cure last.
            why = f": {inert(folded(rest.lstrip('; ')))}" if rest.lstrip("; ") else ""
            text = f"session {session} ended: {reason} (exit {code}){tasks}{why}"
            outcome = str(reason)
            return Notice(
                kind=NoticeKind.END, session=session, outcome=outcome, exit_code=code, text=text
            )
        case OperatorRequested(request=request, kind=kind, text=text) if kind != RequestKind.ANSWER:
            said = one_line(f"session {session} needs you: {request} ({task}): {text}", 500)
            return Notice(kind=NoticeKind.QUESTION, session=session, task=task, text=said)
        case CapWarning(cap=cap, used=used, limit=limit):
            said = f"session {session} has used {used:g} of {limit:g} ({cap})"
            return Notice(kind=NoticeKind.CAP_WARNING, session=session, task=task, text=said)
        case QuotaWait(until=until, resumed=False):
            end = local_time(until)
            said = one_line(f"session {session} waits for the endpoint's limit until {end}", 500)
            return Notice(kind=NoticeKind.QUOTA_WAIT, session=session, task=task, text=said)
    return None


class Notifier:
    """Send word of events to every channel, one after the other, from a thread."""

    def __init__(
        self, to: Sequence[Channel], mask: Mask, plan: Callable[[], Plan | None] = lambda: None
    ) -> None:
        self._channels = tuple(to)
        self._mask = mask
        self._plan = plan
        self._waiting: queue.SimpleQueue[tuple[Notice, Channel] | None] = queue.SimpleQueue()
        self._pending: list[tuple[Notice, Channel]] = []
        self._told: queue.SimpleQueue[tuple[Notice, Channel, str | None]] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def take(self, event: Event) -> None:
        """Hear an event; it costs the run no more than a place in a queue."""
        notice = notice_of(event, self._known_plan() if isinstance(event.payload, Stop) else None)
        if notice is None:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._send_all, name="notify", daemon=True)
            self._thread.start()
        for channel in self._channels:
            self._pending.append((notice, channel))
            self._waiting.put((notice, channel))

    def finish(self, limit_s: float = CLOSING_S) -> tuple[Notified, ...]:
        """Wait for what is under way, but not for ever, and say what became of each notice."""
        if self._thread is None:
            return ()
        self._waiting.put(None)
        self._thread.join(limit_s)
        return tuple(self._results(limit_s))

    def _known_plan(self) -> Plan | None:
        try:
            return self._plan()
        except CorruptSession:
            # The run stops because of it, and says so itself.
            return None

    def _results(self, limit_s: float) -> Iterator[Notified]:
        open_ones = list(self._pending)
        while not self._told.empty():
            notice, channel, error = self._told.get()
            open_ones.remove((notice, channel))
            yield _notified(notice, channel, error and self._mask.known(error))
        for notice, channel in open_ones:
            late = f"it was not sent within {limit_s:g} seconds of the end"
            yield _notified(notice, channel, late)

    def _send_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            notice, channel = item
            self._told.put((notice, channel, try_channel(channel, notice)))


def try_channel(channel: Channel, notice: Notice) -> str | None:
    """Send a notice; whatever a channel may raise is what went wrong."""
    try:
        return channel.send(notice)
    # A service's own code: it must not end a night's work.
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {one_line(str(error))}"


def _notified(notice: Notice, channel: Channel, error: str | None) -> Notified:
    return Notified(kind=str(notice.kind), channel=channel.name, ok=error is None, error=error)

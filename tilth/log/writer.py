"""The event log: numbers, masks and appends what happens, then passes it on to the sinks.

It is the only writer of `events.jsonl`, and keeps the session's state up to date as it writes.
"""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from tilth.base.clock import Clock, stamp
from tilth.base.values import changed
from tilth.config.secrets import Mask
from tilth.log.events import Event, Payload, Scope, Sink, Stop
from tilth.log.state import SessionState, apply
from tilth.session.fence import Guard
from tilth.session.store import Journal, Reserve


class EventLog:
    """Append events of one session; a bound copy writes to the same file with more scope."""

    def __init__(
        self,
        path: Path,
        *,
        session: str,
        clock: Clock,
        mask: Mask,
        sinks: Sequence[Sink] = (),
        before: SessionState | None = None,
        reserve: Reserve | None = None,
        guard: Guard = nullcontext,
    ) -> None:
        with guard():
            self._journal = Journal(path)
        self._guard = guard
        self._session = session
        self._clock = clock
        self._mask = mask
        self._sinks = tuple(sinks)
        # What was written before; the texts of conversations are their owners' from here on.
        self.state = changed(before or SessionState(), conversations=None)
        self._before = self.state.last_seq
        self._reserve = reserve
        # Lanes write beside each other: one event at a time is numbered, written and told of.
        self._one = threading.RLock()

    def close(self) -> None:
        self._give_back()
        self._journal.close()

    def record(self, payload: Payload, scope: Scope) -> Event:
        """Write one event, then tell the sinks."""
        with self._one:
            return self._record(payload, scope)

    def _record(self, payload: Payload, scope: Scope) -> Event:
        # Numbered by what was really written: an interrupt may come right after a write.
        seq = self._before + self._journal.appended + 1
        event = Event(seq, stamp(self._clock.now()), self._session, scope, payload)
        text = _written(event)
        if self._mask.finds(text):
            event = event._replace(payload=self._mask.data(payload))
            text = _written(event)
        if isinstance(payload, Stop):
            self._give_back()
        with self._guard():
            self._journal.append(text, sync=payload.synced)
        self.state = apply(self.state, event)
        for sink in self._sinks:
            sink.take(event)
        return event

    def _give_back(self) -> None:
        if self._reserve is not None:
            self._reserve.give_back()


def _written(event: Event) -> str:
    return json.dumps(event.to_line(), ensure_ascii=False, separators=(",", ":"))


@dataclasses.dataclass(frozen=True, slots=True)
class Emitter:
    """Record payloads with the scope they happen in."""

    log: EventLog
    scope: Scope = dataclasses.field(default_factory=Scope)

    def __call__(self, payload: Payload) -> Event:
        return self.log.record(payload, self.scope)

    def bind(
        self,
        *,
        task_id: str | None = None,
        iter: int | None = None,
        trace_id: str | None = None,
        span_id: str | None = None,
    ) -> Emitter:
        """Give an emitter for a narrower scope."""
        scope = Scope(
            task_id=task_id or self.scope.task_id,
            iter=self.scope.iter if iter is None else iter,
            trace_id=trace_id or self.scope.trace_id,
            span_id=span_id or self.scope.span_id,
        )
        return Emitter(self.log, scope)

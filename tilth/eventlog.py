"""The event log: numbers, masks and appends what happens, then passes it on to the sinks.

It is the only writer of `events.jsonl`, and the only reader that vouches for its order.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tilth.clock import Clock, stamp
from tilth.errors import CorruptSession
from tilth.events import SYNCED, Event, Scope, Sink
from tilth.mask import Mask
from tilth.payloads import SCHEMA_VERSION, Payload
from tilth.store import Journal, read_lines


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
        last_seq: int = 0,
    ) -> None:
        self._journal = Journal(path)
        self._session = session
        self._clock = clock
        self._mask = mask
        self._sinks = tuple(sinks)
        self._before = last_seq

    def close(self) -> None:
        self._journal.close()

    def record(self, payload: Payload, scope: Scope) -> Event:
        """Write one event, then tell the sinks."""
        # Numbered by what was really written: an interrupt may come right after a write.
        seq = self._before + self._journal.appended + 1
        event = Event(seq, stamp(self._clock.now()), self._session, scope, payload)
        text = _written(event)
        if self._mask.known(text) != text:
            event = dataclasses.replace(event, payload=self._mask.data(payload))
            text = _written(event)
        self._journal.append(text, sync=payload.type in SYNCED)
        for sink in self._sinks:
            sink.take(event)
        return event


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


def read_events(path: Path) -> Iterator[dict[str, Any]]:
    """Read a log in constant memory, vouching for its numbering and its schema."""
    for number, line in enumerate(read_lines(path), start=1):
        vouch(line, number, path)
        yield line


def vouch(line: dict[str, Any], number: int, path: Path) -> None:
    """Let a line of the log pass only if it is the one that comes next, in a schema we know."""
    if line.get("seq") != number:
        raise CorruptSession(
            f"{path}: line {number} has seq {line.get('seq')!r}, expected {number}"
        )
    if line.get("type") == "session_start":
        _check_schema(line, path)


def _check_schema(line: dict[str, Any], path: Path) -> None:
    payload = line.get("payload")
    version = payload.get("schema_version") if isinstance(payload, dict) else None
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise CorruptSession(
            f"{path}: written in schema {version!r}, this Tilth reads up to {SCHEMA_VERSION}; "
            "use the newer Tilth that wrote it"
        )


def unreadable(name: str, line: Mapping[str, Any], error: Exception) -> CorruptSession:
    """Say that a line of a log is JSON, but not the event it says it is."""
    said = " ".join(str(error).split())[:200]
    return CorruptSession(
        f"{name}: line {line.get('seq')} ({line.get('type')}) cannot be read: "
        f"{type(error).__name__}: {said}"
    )

"""The events: when and where something happened, and who hears of it.

What happened is a payload (`tilth.payloads`). Console, log, viewer and summary are sinks or readers
of the same events. Readers keep fields they do not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import TypeAdapter

from tilth.payloads import AnyPayload, Payload

_PAYLOADS: TypeAdapter[AnyPayload] = TypeAdapter(AnyPayload)

EVENT_TYPES: tuple[str, ...] = tuple(
    payload.model_fields["type"].default for payload in Payload.__subclasses__()
)

# Records that change what a resume will do are on disk before the next step is taken. A model call
# is the largest thing that can be lost, so it is among them; a sync takes all before it along.
SYNCED = frozenset(
    {
        "session_start",
        "session_prepared",
        "seed_committed",
        "session_resume",
        "context_reset",
        "model_call",
        "evaluator_verdict",
        "operator_request",
        "commit",
        "task_done",
        "task_force_accepted",
        "task_failed",
        "stop",
    }
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Say where in the work something happened."""

    task_id: str | None = None
    iter: int | None = None
    trace_id: str | None = None
    span_id: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """Hold one line of the log."""

    seq: int
    ts: str
    session: str
    scope: Scope
    payload: Payload

    @property
    def type(self) -> str:
        return self.payload.type

    def to_line(self) -> dict[str, Any]:
        """Give the event in the form it is written in."""
        return {
            "seq": self.seq,
            "ts": self.ts,
            "type": self.payload.type,
            "session": self.session,
            "task_id": self.scope.task_id,
            "iter": self.scope.iter,
            "trace_id": self.scope.trace_id,
            "span_id": self.scope.span_id,
            "payload": self.payload.model_dump(mode="json", exclude={"type"}),
        }


def parse_event(line: Mapping[str, Any]) -> Event:
    """Read a written event; raises pydantic's ValidationError or KeyError on a foreign shape."""
    payload = _PAYLOADS.validate_python({**line["payload"], "type": line["type"]})
    scope = Scope(line["task_id"], line["iter"], line["trace_id"], line["span_id"])
    return Event(line["seq"], line["ts"], line["session"], scope, payload)


class Sink(Protocol):
    """Take events as they happen."""

    def take(self, event: Event) -> None: ...


class Emit(Protocol):
    """Record a payload; `bind` keeps call sites short."""

    def __call__(self, payload: Payload) -> Event: ...

    def bind(
        self,
        *,
        task_id: str | None = None,
        iter: int | None = None,
        trace_id: str | None = None,
        span_id: str | None = None,
    ) -> Emit: ...

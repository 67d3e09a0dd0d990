"""The envelope: when and where something happened, around what happened, and who hears of it.

What can happen is listed in `tilth.log.events`; import from there. Readers keep fields they do not
know.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

from pydantic import ConfigDict

from tilth.base.values import Value


class Payload(Value):
    """Be the base of every event class: its fields are what the event says.

    One that is `synced` is on disk before the next step is taken, for it changes what a resume will
    do; a sync takes all before it along.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    synced: ClassVar[bool] = False
    # Fields that are written only where they say something.
    sparse: ClassVar[tuple[str, ...]] = ()

    type: str

    def to_data(self) -> Any:
        """Give the payload in the form it is written in."""
        unsaid = (name for name in self.sparse if not getattr(self, name))
        return self.model_dump(mode="json", exclude={"type", *unsaid})


class Unknown(Payload):
    """Hold an event of a kind nobody here knows, as a later version wrote it."""

    content: Any = None

    def to_data(self) -> Any:
        return self.content


class Scope(NamedTuple):
    """Say where in the work something happened."""

    task_id: str | None = None
    iter: int | None = None
    trace_id: str | None = None
    span_id: str | None = None


class Event(NamedTuple):
    """Hold one line of the log."""

    seq: int
    ts: str
    session: str
    scope: Scope
    payload: Payload

    @property
    def type(self) -> str:
        return self.payload.type

    @property
    def task_id(self) -> str | None:
        return self.scope.task_id

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
            "payload": self.payload.to_data(),
        }


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

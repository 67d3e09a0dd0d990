"""The account of calls that belong to no session: counted and capped, and written nowhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tilth.base.clock import Clock
from tilth.base.interrupt import Interrupt
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.log.events import Event, Payload, Scope
from tilth.log.state import SessionState, apply
from tilth.task.budget import Meter, Spend
from tilth.task.night import Night


@dataclass
class Unwritten:
    """Take events, count what they say and pass them on."""

    hear: Callable[[Payload], None]
    state: SessionState = field(default_factory=SessionState)

    def __call__(self, payload: Payload) -> Event:
        self.hear(payload)
        event = Event(self.state.events + 1, "", "", Scope(), payload)
        self.state = apply(self.state, event)
        return event

    def bind(self, **_: object) -> Unwritten:
        return self


@dataclass(frozen=True)
class Account:
    """Be what calls are charged to, with the limits of a session."""

    settings: Settings
    emit: Unwritten
    clock: Clock
    mask: Mask
    interrupt: Interrupt
    started: float
    warned: set[str] = field(default_factory=set)
    night: Night = field(default_factory=Night)

    @property
    def meter(self) -> Meter:
        return Meter(lambda: self.emit.state.spend)

    @property
    def spent(self) -> Spend:
        return self.emit.state.spent

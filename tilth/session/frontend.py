"""The frontend of a run: how it reaches people, handed in by whoever starts it.

The default reaches nobody: a program that embeds Tilth hears events through `sinks`, and a question
that only a person can settle is an error that names the choices. `show/terminal.py` has the other
one, which the command line uses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

from tilth.base.interrupt import Interrupt
from tilth.config.settings import Settings
from tilth.log.events import Sink
from tilth.log.state import SessionState
from tilth.model.messages import Role
from tilth.session.session import Session


class Screen(Sink, Protocol):
    """Show events to a person while they happen."""

    def close(self) -> None: ...


OpenScreen = Callable[[Settings, Session, SessionState], Screen]
Pick = Callable[[str, Sequence[str]], int]


def _say_nothing(line: str) -> None:
    """Drop a line that nobody reads."""


def _hear_no_signal(interrupt: Interrupt) -> AbstractContextManager[None]:
    return nullcontext()


@dataclass(frozen=True)
class Frontend:
    """Hold how one run reaches people; it serves one run.

    `interrupt.wish()`, from any thread, stops the run after the current call.
    """

    sinks: tuple[Sink, ...] = ()
    tell: Callable[[str], None] = _say_nothing
    # None: there is nobody to ask.
    pick: Pick | None = None
    open_screen: OpenScreen | None = None
    # Told what a model writes while it writes it.
    hear_model: Callable[[Role, str], None] | None = None
    # Hears wishes to stop while the run lasts, such as signals.
    listen: Callable[[Interrupt], AbstractContextManager[None]] = _hear_no_signal
    interrupt: Interrupt = field(default_factory=Interrupt)

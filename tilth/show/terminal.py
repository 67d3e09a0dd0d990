"""The terminal as a run's frontend: notices, choices, the live screen and Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from tilth.base.interrupt import Interrupt
from tilth.config.settings import Settings
from tilth.log.state import SessionState
from tilth.model.messages import Role
from tilth.session.frontend import Frontend
from tilth.session.session import Session
from tilth.show.keys import quiet_keys
from tilth.show.live import Console, ConsoleContext
from tilth.show.notices import tell, tell_from_handler
from tilth.show.picker import can_ask, pick
from tilth.show.program import say_where_it_is
from tilth.task.budget import Allowance, Caps


def terminal(*, advises: bool = True, plain: bool = False) -> Frontend:
    """Give the frontend of a command; `advises` has the last screen say what to type next."""
    screen = _TerminalScreen(advises=advises, plain=plain)
    return Frontend(
        tell=tell,
        pick=pick if can_ask() else None,
        open_screen=screen.open,
        hear_model=screen.hear_model,
        listen=screen.listen,
    )


class _TerminalScreen:
    """Be the screen of one run: what happened on stdout, a footer on stderr, and the keyboard."""

    def __init__(self, *, advises: bool, plain: bool) -> None:
        self._advises = advises
        self._plain = plain
        self._console: Console | None = None

    def open(self, settings: Settings, session: Session, memory: SessionState) -> Console:
        """Open it for a session."""
        context = ConsoleContext(
            plan=session.plan,
            caps=Caps.of(settings),
            allowance=Allowance.of(settings),
            directory=str(session.directory),
            advises=self._advises,
        )
        console = Console.on(sys.stdout, sys.stderr, context, os.environ, plain=self._plain)
        console.recall(memory)
        self._console = console
        return console

    def hear_model(self, role: Role, activity: str) -> None:
        """Show what a model does right now."""
        if self._console is not None:
            self._console.model_is(role, activity)

    @contextmanager
    def listen(self, interrupt: Interrupt) -> Iterator[None]:
        """Hear signals; while a footer is drawn, keys are kept from the screen and the shell."""
        console = self._console
        has_footer = console is not None and console.has_footer
        keyboard = sys.stdin if has_footer else None
        with outlived(), stop_on_signals(interrupt, self._say), quiet_keys(keyboard):
            yield
        if self._advises:
            say_where_it_is()

    def _say(self, line: str) -> None:
        if self._console is not None and self._console.is_live:
            self._console.remark(line)
        else:
            tell_from_handler(line)


@contextmanager
def outlived() -> Iterator[None]:
    """Go on without a screen when the terminal is closed: a night does not end with it."""
    before = signal.getsignal(signal.SIGHUP)
    if before is not signal.SIG_DFL:
        # Under `nohup`, or within another of these.
        yield
        return
    # Not SIG_IGN: whatever is started from here would inherit that.
    signal.signal(signal.SIGHUP, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@contextmanager
def stop_on_signals(
    interrupt: Interrupt, say: Callable[[str], None] = tell_from_handler
) -> Iterator[None]:
    """Hear Ctrl-C and SIGTERM: once to stop after the current call, twice to stop at once.

    So does a terminal that is closed, unless whatever runs here outlives it.
    """

    def on_signal(number: int, frame: FrameType | None) -> None:
        if interrupt.wished:
            if number == signal.SIGHUP:
                # Both the shell and the kernel say that the terminal is gone.
                return
            raise KeyboardInterrupt
        interrupt.wish()
        say("stopping after the current call; once more to stop at once")

    before: Mapping[int, object] = {number: signal.signal(number, on_signal) for number in _heard()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() itself gave


def _heard() -> tuple[signal.Signals, ...]:
    both = (signal.SIGINT, signal.SIGTERM)
    lives_on = signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
    return both if lives_on else (*both, signal.SIGHUP)

"""The room of several gates: so many of their commands run at a time, the most urgent first.

Threads wait here for each other and hear a wish to stop meanwhile. It knows nothing of what is run.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from tilth.base.interrupt import Interrupt

_LOOK_EVERY_S = 0.2


def gates_at_once(cores: int) -> int:
    """Say how many gates may run at the same time: half the cores' worth, at least one."""
    return max(1, cores // 2)


class Room:
    """Let in so many commands at a time, and one gate at a time to find out about a base."""

    def __init__(self, places: int, interrupt: Interrupt) -> None:
        self._commands = _Line(places, interrupt)
        self._bases = _Line(1, interrupt)

    @property
    def waiting(self) -> int:
        """Count who stands in line for a place."""
        return len(self._commands.waiting)

    def way_in(self, rank: int = 0) -> WayIn:
        """Give a gate its way in; the lowest rank comes in first, equal ones as they came."""
        return WayIn(self._commands, self._bases, rank)


@dataclass(frozen=True)
class WayIn:
    """Be one gate's way into the room."""

    _commands: _Line
    _bases: _Line
    _rank: int

    def taken(self) -> AbstractContextManager[None]:
        """Take one of the places for a while."""
        return self._commands.taken(self._rank)

    def alone(self) -> AbstractContextManager[None]:
        """Find out what others would have to find out too; places are taken within, never about."""
        return self._bases.taken(self._rank)


class _Line:
    """Give a few places to whoever is most urgent and waits longest."""

    def __init__(self, places: int, interrupt: Interrupt) -> None:
        self.waiting: list[tuple[int, int]] = []
        self._free = places
        self._interrupt = interrupt
        self._numbers = itertools.count()
        self._door = threading.Condition()

    @contextmanager
    def taken(self, rank: int) -> Iterator[None]:
        self._wait(rank)
        try:
            yield
        finally:
            with self._door:
                self._free += 1
                self._door.notify_all()

    def _wait(self, rank: int) -> None:
        with self._door:
            ticket = (rank, next(self._numbers))
            self.waiting.append(ticket)
            try:
                while not self._free or min(self.waiting) != ticket:
                    if not self._door.wait(_LOOK_EVERY_S):
                        self._interrupt.check()
                self._free -= 1
            finally:
                self.waiting.remove(ticket)
                self._door.notify_all()

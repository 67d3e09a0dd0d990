"""The slots of several gates: so many of their commands run at a time, the most urgent first.

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


class GateSlots:
    """Let in so many commands at a time, and one gate at a time to find out about a base."""

    def __init__(self, slots: int, interrupt: Interrupt) -> None:
        self._commands = _Queue(slots, interrupt)
        self._bases = _Queue(1, interrupt)

    @property
    def waiting(self) -> int:
        """Count who waits for a slot."""
        return len(self._commands.waiting)

    def handle(self, rank: int = 0) -> SlotHandle:
        """Give a gate its handle; the lowest rank comes first, equal ones as they came."""
        return SlotHandle(self._commands, self._bases, rank)


@dataclass(frozen=True)
class SlotHandle:
    """Take slots for one gate."""

    _commands: _Queue
    _bases: _Queue
    _rank: int

    def taken(self) -> AbstractContextManager[None]:
        """Take one of the slots for a while."""
        return self._commands.taken(self._rank)

    def alone(self) -> AbstractContextManager[None]:
        """Find out what others would have to find out too; slots are taken within, never about."""
        return self._bases.taken(self._rank)


class _Queue:
    """Give a few slots to whoever is most urgent and waits longest."""

    def __init__(self, slots: int, interrupt: Interrupt) -> None:
        self.waiting: list[tuple[int, int]] = []
        self._free = slots
        self._interrupt = interrupt
        self._numbers = itertools.count()
        self._changed = threading.Condition()

    @contextmanager
    def taken(self, rank: int) -> Iterator[None]:
        self._wait(rank)
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()

    def _wait(self, rank: int) -> None:
        with self._changed:
            ticket = (rank, next(self._numbers))
            self.waiting.append(ticket)
            try:
                while not self._free or min(self.waiting) != ticket:
                    if not self._changed.wait(_LOOK_EVERY_S):
                        self._interrupt.check()
                self._free -= 1
            finally:
                self.waiting.remove(ticket)
                self._changed.notify_all()

"""The night: until when a run may work, what it has slept, and what it knows of earlier work.

One value for all tasks of a run, shared by what works beside it. It never sleeps itself and decides
nothing about tasks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from tilth.base.clock import Clock
from tilth.contract.outcomes import StopReason
from tilth.log.events import QuotaWait
from tilth.task.budget import CapReading
from tilth.task.forecast import Past

UNTIL = "--until"


@dataclass
class Night:
    """Hold the deadline of a run, if it has one, and what it has slept for quotas."""

    deadline: datetime | None = None
    began: datetime | None = None
    # A wait of an earlier start that nobody has been answered after.
    pending: QuotaWait | None = None
    # How long tasks took here so far; None where nothing is to be foreseen, as in a replay.
    paces: Callable[[], Sequence[Past]] | None = None
    slept_s: float = 0.0
    _sleepers: int = 0
    _since: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def reading(self, now: datetime) -> CapReading | None:
        """Read the deadline as the cap it takes the place of."""
        if self.deadline is None or self.began is None:
            return None
        return CapReading(
            reason=StopReason.WALL_CLOCK,
            setting=UNTIL,
            used=(now - self.began).total_seconds() / 60,
            limit=(self.deadline - self.began).total_seconds() / 60,
        )

    @contextmanager
    def asleep(self, clock: Clock) -> Iterator[None]:
        """Count the time until the last of all sleepers is awake again, once."""
        with self._lock:
            if self._sleepers == 0:
                self._since = clock.monotonic()
            self._sleepers += 1
        try:
            yield
        finally:
            with self._lock:
                self._sleepers -= 1
                if self._sleepers == 0:
                    self.slept_s += clock.monotonic() - self._since

"""A clock for nights: it goes on only when somebody sleeps by it, or says how long work took."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tilth.base.interrupt import Interrupt

NAP_S = 15.0
EVENING = datetime(2026, 11, 16, 22, 0, tzinfo=UTC)


class NightClock:
    """Tell a time that tests move; `heard` is called after every nap."""

    def __init__(self, now: datetime = EVENING) -> None:
        self._now = now
        self._passed = 0.0
        self.slept = 0.0
        self.heard: Callable[[], None] = lambda: None

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._passed

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._passed += seconds

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)
        self.slept += seconds
        self.heard()

    def interrupt(self) -> Interrupt:
        """Give an interrupt whose naps pass by this clock, long ones: a night is soon over."""
        return Interrupt(pause=self.sleep, look_every_s=NAP_S)


class LateClock(NightClock):
    """Stand still until a sign is there; from then on all time is used up."""

    def __init__(self, is_late: Callable[[], bool]) -> None:
        super().__init__()
        self._is_late = is_late

    def monotonic(self) -> float:
        return 1e6 if self._is_late() else 0.0

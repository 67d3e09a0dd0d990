"""Limits on how often a client may call."""

from __future__ import annotations

from collections.abc import Callable


class FixedWindow:
    """Allow a number of calls in each window of time."""

    def __init__(self, calls: int, seconds: float, clock: Callable[[], float]) -> None:
        self._calls = calls
        self._seconds = seconds
        self._clock = clock
        self._window = clock() // seconds
        self._made = 0

    def allow(self) -> bool:
        """Count a call if there is room for it."""
        window = self._clock() // self._seconds
        if window != self._window:
            self._window, self._made = window, 0
        if self._made >= self._calls:
            return False
        self._made += 1
        return True

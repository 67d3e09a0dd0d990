"""A rate limit that lanes share: what one of them is told to wait holds for all.

Once the time is over they try one at a time, until one is answered: a limit is not met by as many
retries at once as there are lanes. It knows no endpoint and makes no call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_LOOK_EVERY_S = 0.2


class SharedLimit:
    """Hold calls to one endpoint back while it wants to be left alone."""

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._clock = clock
        # Hears a wish to stop, however short the sleep.
        self._sleep = sleep
        self._until = 0.0
        self._is_on = False
        self._told: int | None = None
        self._trial = threading.Lock()

    def wait(self, seconds: float) -> None:
        """Have everybody wait so long from now; whoever says so waits by himself."""
        self._until = max(self._until, self._clock() + seconds)
        self._told = threading.get_ident()
        self._is_on = True

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Make one call in here, when its time has come."""
        if not self._is_on:
            yield
            return
        while not self._trial.acquire(timeout=_LOOK_EVERY_S):
            self._sleep(0)
        try:
            while self._must_wait():
                self._sleep(min(_LOOK_EVERY_S, max(0.0, self._until - self._clock())))
            yield
            self._is_on = False
        finally:
            self._trial.release()

    def _must_wait(self) -> bool:
        own = self._told == threading.get_ident()
        return self._is_on and not own and self._clock() < self._until

"""The interrupt: a wish to stop that is heard between calls, never in the middle of one."""

from __future__ import annotations

import time
from collections.abc import Callable

from tilth.base.errors import Halted, Interrupted

_LOOK_EVERY_S = 0.2


def _nowhere() -> bool:
    return False


class Interrupt:
    """Carry the wish to stop to the loop: from a signal handler, or from elsewhere.

    A plain flag: a handler runs between any two steps of the thread it interrupts, and a lock that
    this thread holds would never come free. `elsewhere` is asked only where a stop can be heard.
    """

    def __init__(
        self, pause: Callable[[float], None] = time.sleep, look_every_s: float = _LOOK_EVERY_S
    ) -> None:
        self.wished = False
        # What stopped one lane of a run stops the others; nobody wished for it.
        self.halted = False
        self.elsewhere: Callable[[], bool] = _nowhere
        self._pause = pause
        self._look_every_s = look_every_s

    def wish(self) -> None:
        self.wished = True

    def asked(self) -> bool:
        """Tell whether a person wished for a stop, here or elsewhere."""
        return self.wished or self.elsewhere()

    def heard(self) -> bool:
        """Tell whether there is to be a stop, whoever wished for it."""
        return self.halted or self.asked()

    def check(self) -> None:
        """Raise Interrupted when a stop was wished for."""
        if self.asked():
            raise Interrupted("stopped by the user")
        if self.halted:
            raise Halted("another task has stopped the run")

    def sleep(self, seconds: float) -> None:
        """Wait, but hardly longer than until a stop is wished for."""
        until = time.monotonic() + seconds
        while not self.heard() and (left := until - time.monotonic()) > 0:
            self._pause(min(left, self._look_every_s))
        self.check()

    def nap(self, seconds: float) -> None:
        """Wait a moment at most, for whoever has a clock of its own to look at in between."""
        self.check()
        self._pause(min(seconds, self._look_every_s))
        self.check()

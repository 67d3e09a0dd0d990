"""The interrupt: a wish to stop that is heard between calls, never in the middle of one."""

from __future__ import annotations

import threading

from tilth.errors import Interrupted


class Interrupt:
    """Carry the wish to stop from a signal handler to the loop."""

    def __init__(self) -> None:
        self._wished = threading.Event()

    @property
    def wished(self) -> bool:
        return self._wished.is_set()

    def wish(self) -> None:
        self._wished.set()

    def check(self) -> None:
        """Raise Interrupted when a stop was wished for."""
        if self.wished:
            raise Interrupted("stopped by the user")

    def sleep(self, seconds: float) -> None:
        """Wait, but no longer than until a stop is wished for."""
        self._wished.wait(seconds)
        self.check()

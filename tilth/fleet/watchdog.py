"""The watchdog: a run that ends with whoever started it, and as soon as another run supersedes it.

A worker that is killed cannot clean up. What it started would go on, cost money and get in the way
of the run that follows. So the kernel is asked to kill the run with its parent where it can be, and
the run itself watches its end of a pipe that only the parent holds open.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from tilth.base.errors import TilthError
from tilth.base.interrupt import Interrupt

_PR_SET_PDEATHSIG = 1
_LOOK_EVERY_S = 0.5


def die_with(parent: int) -> None:
    """Have the kernel kill this process when `parent` dies; it may be dead already."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        die()


def die() -> None:
    """End at once, without another record."""
    os.kill(os.getpid(), signal.SIGKILL)


class Watchdog:
    """Watch for the end of a pipe, for a run that supersedes this one, and for a wish to stop."""

    def __init__(self, pipe: int, interrupt: Interrupt) -> None:
        self._pipe = pipe
        self._interrupt = interrupt
        self._superseded: Callable[[], bool] = lambda: False
        self._stopping: Callable[[], bool] = lambda: False

    def start(self) -> None:
        """Begin to watch."""
        threading.Thread(target=self._watch, name="tilth-watchdog", daemon=True).start()

    def watch_for(self, *, superseded: Callable[[], bool], stopping: Callable[[], bool]) -> None:
        """Watch for these too, from now on."""
        self._superseded, self._stopping = superseded, stopping

    def _watch(self) -> None:
        while True:
            ready, _, _ = select.select([self._pipe], [], [], _LOOK_EVERY_S)
            if (ready and not os.read(self._pipe, 4096)) or self._superseded():
                die()
            # A register that cannot be read just now is no wish to stop.
            with suppress(TilthError):
                if self._stopping():
                    self._interrupt.wish()

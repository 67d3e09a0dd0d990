"""The crew: threads that work beside the main one, and what came of each.

Threads, because models are asked and commands are run by calls that wait; nothing here computes.
Leaving the crew stops every one of them at its next safe point and waits for it. It decides nothing
about tasks.
"""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable
from types import TracebackType

from tilth.base.errors import CapReached, Halted, Interrupted, ProviderError, RecordingOver
from tilth.base.interrupt import Interrupt

_AT_ONCE_S = 3.0
# A person's word to a task that nobody is at work on waits no longer than this.
_MOMENT_S = 0.5
_END = tuple[str, BaseException | None]


class Crew:
    """Run pieces of work at the same time, each under the name of its task."""

    def __init__(self, interrupt: Interrupt) -> None:
        self._interrupt = interrupt
        self._threads: dict[str, threading.Thread] = {}
        self._ended: queue.SimpleQueue[_END] = queue.SimpleQueue()
        # Those whose recorded answers are used up: they go no further, the others may.
        self.over: dict[str, RecordingOver] = {}

    @property
    def busy(self) -> frozenset[str]:
        """Name what is being worked on."""
        return frozenset(self._threads)

    def begin(self, name: str, work: Callable[[], object]) -> None:
        """Start a piece of work."""
        thread = threading.Thread(target=self._run, args=(name, work), name=name, daemon=True)
        self._threads[name] = thread
        thread.start()

    def wait(self) -> None:
        """Wait until one has ended, or for a moment; raise what one of them raised."""
        try:
            name, fault = self._ended.get(timeout=_MOMENT_S)
        except queue.Empty:
            return
        self._threads.pop(name).join()
        if isinstance(fault, RecordingOver):
            self.over[name] = fault
        elif fault is not None:
            raise fault

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._threads:
            return
        self._interrupt.halted = True
        if isinstance(fault, KeyboardInterrupt):
            self._stop_at_once()
            return
        faults = [] if fault is None else [fault]
        try:
            while self._threads:
                name, other = self._ended.get()
                self._threads.pop(name).join()
                faults += [] if other is None else [other]
        except KeyboardInterrupt:
            self._stop_at_once()
            raise
        worst = min(faults, key=_rank, default=None)
        if worst is not None and worst is not fault:
            raise worst

    def _run(self, name: str, work: Callable[[], object]) -> None:
        fault: BaseException | None = None
        try:
            work()
        # Carried to the main thread, which decides on it like on a fault of its own.
        except BaseException as error:  # noqa: BLE001
            fault = error
        self._ended.put((name, fault))

    def _stop_at_once(self) -> None:
        """Interrupt every thread where it is; one that waits for a model is left behind."""
        for thread in self._threads.values():
            number = ctypes.c_ulong(thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(KeyboardInterrupt))
        for thread in self._threads.values():
            thread.join(_AT_ONCE_S)


def _rank(fault: BaseException) -> int:
    """Say how much a fault has to tell of a stop, the most at the front."""
    if isinstance(fault, Halted | RecordingOver):
        return 4
    if isinstance(fault, Interrupted | KeyboardInterrupt):
        return 0
    if isinstance(fault, ProviderError):
        return 2
    return 3 if isinstance(fault, CapReached) else 1

"""Engines: where units run. One on this machine; `dask_engine` has the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Protocol

from tilth.fleet.job import Job, UnitReport
from tilth.fleet.process import UnitProcess

_LOOK_EVERY_S = 0.05


class Engine(Protocol):
    """Run jobs beside each other."""

    @property
    def width(self) -> int:
        """Say how many can run at once; it may change."""

    @property
    def remark(self) -> str:
        """Say what a person should know before units are begun, if anything."""

    def start(self, job: Job) -> None:
        """Begin a job."""

    def ended(self, wait_s: float) -> Iterator[UnitReport]:
        """Give the reports of the jobs that ended, waiting a moment for the first."""

    def withdraw(self) -> tuple[str, ...]:
        """Take back the jobs that nobody can have begun, and give their units' names."""

    def close(self) -> None:
        """Leave nothing behind that this engine has made."""


class LocalEngine:
    """Run each unit as a process of this machine that dies with this one."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._running: list[UnitProcess] = []

    @property
    def width(self) -> int:
        return self._width

    @property
    def remark(self) -> str:
        return ""

    def start(self, job: Job) -> None:
        self._running.append(UnitProcess(job))

    def ended(self, wait_s: float) -> Iterator[UnitReport]:
        until = time.monotonic() + wait_s
        while not (over := [each for each in self._running if each.is_over()]):
            if time.monotonic() >= until:
                return
            time.sleep(_LOOK_EVERY_S)
        for process in over:
            self._running.remove(process)
            with process:
                yield process.wait()

    def withdraw(self) -> tuple[str, ...]:
        return ()  # Each runs from the moment it is started.

    def close(self) -> None:
        for process in self._running:
            process.close()
        self._running.clear()

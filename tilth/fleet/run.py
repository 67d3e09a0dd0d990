"""The fleet: every unit of a file run to its end, as many at once as the engine can take.

All is checked before anything is started. Then a unit that is lost with its worker is run again,
and a wish to stop lets those that run come to their next safe point. It prints nothing.
"""

from __future__ import annotations

import os
import secrets
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from tilth.base.errors import UserError
from tilth.base.interrupt import Interrupt
from tilth.config.settings import load
from tilth.contract.outcomes import ExitCode, first_of
from tilth.fleet.engine import Engine, LocalEngine
from tilth.fleet.job import Job, UnitReport
from tilth.fleet.register import Register
from tilth.fleet.units import Unit, read_units
from tilth.session.models import require_endpoints

# How often a unit whose worker was lost is begun in all.
MOST_TRIES = 5
_LOOK_EVERY_S = 0.5


class EngineChoice(StrEnum):
    """Say where units run."""

    LOCAL = "local"
    DASK = "dask"


def engine_named(name: str) -> EngineChoice:
    """Read an engine's name."""
    try:
        return EngineChoice(name.strip().lower())
    except ValueError:
        raise UserError(f"--engine must be local or dask, got {name!r}") from None


@dataclass(frozen=True)
class FleetOptions:
    """Hold what was asked of a fleet."""

    engine: EngineChoice = EngineChoice.LOCAL
    scheduler: str | None = None
    jobs: int | None = None


class Phase(StrEnum):
    """Say where a unit stands."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"


@dataclass
class UnitRun:
    """Hold one unit on its way; without a report in the end it was never begun."""

    unit: Unit
    phase: Phase = Phase.WAITING
    tries: int = 0
    report: UnitReport | None = None

    @property
    def exit_code(self) -> ExitCode:
        return self.report.exit_code if self.report else ExitCode.INTERRUPTED


class Watcher(Protocol):
    """Show a fleet to a person."""

    def began(self, unit_run: UnitRun) -> None: ...

    def ended(self, unit_run: UnitRun) -> None: ...

    def look(self, unit_runs: Iterable[UnitRun]) -> None: ...


@dataclass(frozen=True)
class Fleet:
    """Hold a fleet that was checked and can start."""

    unit_runs: tuple[UnitRun, ...]
    sessions: Path
    register: Register
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def exit_code(self) -> ExitCode:
        return first_of(unit_run.exit_code for unit_run in self.unit_runs)


def check_fleet(path: Path, options: FleetOptions, environ: Mapping[str, str]) -> Fleet:
    """Read the units and refuse what cannot run; nothing is made."""
    if options.scheduler is not None and options.engine is not EngineChoice.DASK:
        raise UserError("--scheduler is of --engine dask: add it, or leave the address out")
    settings = load({}, environ)
    units = read_units(path, environ)
    register = Register(settings.sessions_dir)
    register.check(units)
    if options.scheduler is None:
        # The workers stand here: what they lack is known already.
        for unit in units:
            require_endpoints(load({}, {**environ, **unit.settings}))
    return Fleet(tuple(map(UnitRun, units)), settings.sessions_dir, register)


def open_engine(options: FleetOptions, units: int) -> Engine:
    """Open the engine that was asked for; it never takes more at once than there are units."""
    # A cluster that is there knows how much it can take.
    usual = None if options.scheduler else _usual_jobs()
    wanted = options.jobs or usual
    most = None if wanted is None else min(wanted, units)
    if options.engine is EngineChoice.DASK:
        from tilth.fleet.dask_engine import open_dask

        return open_dask(options.scheduler, most)
    return LocalEngine(most or 1)


def _usual_jobs() -> int:
    """Leave half of this machine to gates and tests."""
    return max(1, (os.cpu_count() or 1) // 2)


def run_fleet(fleet: Fleet, engine: Engine, watcher: Watcher, interrupt: Interrupt) -> None:
    """Run every unit to its end, or until somebody asks to stop."""
    flow = _Flow(fleet, engine, watcher, interrupt)
    try:
        while flow.is_open:
            flow.step()
    finally:
        if interrupt.wished:
            flow.ask_to_stop()


class _Flow:
    """Hold a fleet that is running: who waits, who runs."""

    def __init__(
        self, fleet: Fleet, engine: Engine, watcher: Watcher, interrupt: Interrupt
    ) -> None:
        self._fleet, self._engine, self._watcher = fleet, engine, watcher
        self._interrupt = interrupt
        self._waiting = deque(fleet.unit_runs)
        self._running: dict[str, UnitRun] = {}
        self._stopping = False

    @property
    def is_open(self) -> bool:
        return bool(self._waiting or self._running)

    def step(self) -> None:
        """Begin what there is room for, and hear what has ended."""
        if self._interrupt.wished:
            self.ask_to_stop()
            self._waiting.clear()
            for name in self._engine.withdraw():
                self._running.pop(name).phase = Phase.WAITING
        while self._waiting and len(self._running) < self._engine.width:
            self._begin(self._waiting.popleft())
        for report in self._engine.ended(_LOOK_EVERY_S) if self._running else ():
            self._hear(report)
        self._watcher.look(self._fleet.unit_runs)

    def ask_to_stop(self) -> None:
        # Over and over: one that was handed out may not have claimed its unit yet.
        self._stopping = True
        self._fleet.register.ask_to_stop(tuple(self._running), self._fleet.id)

    def _begin(self, unit_run: UnitRun) -> None:
        unit_run.phase, unit_run.tries = Phase.RUNNING, unit_run.tries + 1
        self._running[unit_run.unit.name] = unit_run
        sessions = str(self._fleet.sessions)
        self._engine.start(Job(unit=unit_run.unit, sessions=sessions, fleet=self._fleet.id))
        self._watcher.began(unit_run)

    def _hear(self, report: UnitReport) -> None:
        unit_run = self._running.pop(report.name)
        unit_run.report = report
        if report.lost and unit_run.tries < MOST_TRIES and not self._stopping:
            unit_run.phase = Phase.WAITING
            self._waiting.appendleft(unit_run)
        else:
            unit_run.phase = Phase.ENDED
        self._watcher.ended(unit_run)

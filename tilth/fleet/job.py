"""Jobs and reports: what is handed to a worker, and what comes back. Plain data, no key in it."""

from __future__ import annotations

from tilth.base.values import Value
from tilth.contract.outcomes import ExitCode
from tilth.fleet.units import Unit


class Job(Value):
    """Ask for one unit to be run or resumed; `fleet` tells the command that asks from others."""

    unit: Unit
    sessions: str
    fleet: str


class UnitReport(Value):
    """Say what came of one run of a unit.

    A run that is `lost` said nothing before it died; its unit can be run again.
    """

    name: str
    exit_code: ExitCode
    session: str | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None
    lost: bool = False


def failed(name: str, why: str) -> UnitReport:
    """Tell of a run that ended on a fault of its own."""
    return UnitReport(name=name, exit_code=ExitCode.USAGE, error=why)


def lost(name: str, why: str) -> UnitReport:
    """Tell of a run that died."""
    return UnitReport(name=name, exit_code=ExitCode.USAGE, error=why, lost=True)

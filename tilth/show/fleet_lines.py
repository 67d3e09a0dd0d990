"""What is told of a fleet: a line for each thing that happened, a row for each unit. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tilth.contract.outcomes import ExitCode
from tilth.fleet.run import Phase, UnitRun
from tilth.show import figures
from tilth.show.note import Tone
from tilth.show.session_list import cost
from tilth.show.session_row import SessionRow
from tilth.show.tables import Cell, Column

COLUMNS = (
    Column("unit", whole=True),
    Column("state", whole=True),
    Column("tasks", right=True),
    Column("cost", right=True, wide=50),
    Column("session", wide=70),
)
_ENDINGS = {
    ExitCode.DONE: ("all done", Tone.GOOD),
    ExitCode.TASK_FAILED: ("a task failed", Tone.BAD),
    ExitCode.USAGE: ("error", Tone.BAD),
    ExitCode.CAP: ("stopped by a cap", Tone.WARN),
    ExitCode.BELOW_BAR: ("done, below the bar", Tone.LOUD),
    ExitCode.PROVIDER: ("the endpoint failed", Tone.BAD),
    ExitCode.WAITING: ("waits for you", Tone.LOUD),
    ExitCode.INTERRUPTED: ("interrupted", Tone.WARN),
}


def state_of(unit_run: UnitRun) -> tuple[str, Tone]:
    """Say where a unit stands in a word or two."""
    match unit_run.phase:
        case Phase.WAITING:
            return "waiting", Tone.QUIET
        case Phase.RUNNING:
            again = f", try {unit_run.tries}" if unit_run.tries > 1 else ""
            return f"running{again}", Tone.HEAD
        case Phase.ENDED:
            return _ENDINGS[unit_run.exit_code]


def began(unit_run: UnitRun, *, session: str | None) -> str:
    """Say that a unit is begun, or gone on with."""
    what = f"goes on with session {session}" if session else "started"
    return f"{what} (try {unit_run.tries})" if unit_run.tries > 1 else what


def ended(unit_run: UnitRun, row: SessionRow | None) -> tuple[str, Tone]:
    """Say how a unit ended, or that it is run again."""
    report = unit_run.report
    error = report.error if report and report.error else ""
    if unit_run.phase is not Phase.ENDED:
        return f"lost: {error}; it is run again", Tone.WARN
    word, tone = _ENDINGS[unit_run.exit_code]
    session = f"session {row.session}" if row else ""
    return figures.joined((word, *_figures(row), session, error)), tone


def _figures(row: SessionRow | None) -> tuple[str, ...]:
    if row is None or row.fault:
        return ()
    return (f"{row.done} of {figures.counted(row.total, 'task')}", cost(row))


def task_lines(before: SessionRow | None, now: SessionRow) -> Iterator[tuple[str, Tone]]:
    """Say which tasks have ended since a session was last looked at."""
    known = {*before.done_tasks, *before.failed} if before else set()
    yield from ((f"{task} done", Tone.GOOD) for task in now.done_tasks if task not in known)
    yield from ((f"{task} failed", Tone.BAD) for task in now.failed if task not in known)


def cells(unit_run: UnitRun, row: SessionRow | None) -> Sequence[Cell]:
    """Give a unit as a row of the table."""
    state, tone = state_of(unit_run)
    known = row is not None and not row.fault
    return (
        Cell(unit_run.unit.name),
        Cell(state, tone),
        Cell(f"{row.done}/{row.total}" if row and known else ""),
        Cell(cost(row) if row and known else ""),
        Cell(row.session if row else "", Tone.QUIET),
    )


def tally(unit_runs: Iterable[UnitRun]) -> str:
    """Say how a fleet ended as a whole."""
    ends = (state_of(each)[0] if each.report else "not begun" for each in unit_runs)
    counts = Counter(ends)
    units = figures.counted(sum(counts.values()), "unit")
    return f"{units}: " + ", ".join(f"{number} {word}" for word, number in counts.items())


def document(unit_run: UnitRun, row: SessionRow | None) -> dict[str, Any]:
    """Give a unit as JSON data."""
    report, known = unit_run.report, row is not None and not row.fault
    return {
        "name": unit_run.unit.name,
        "bundle": unit_run.unit.bundle,
        "repo": unit_run.unit.repo,
        "session": row.session if row else None,
        "branch": row.branch if row and known else None,
        "status": row.status if row else None,
        "exit_code": int(unit_run.exit_code),
        "begun": unit_run.tries,
        "tasks_done": row.done if row and known else 0,
        "tasks_total": row.total if row and known else 0,
        "cost_usd": round(row.cost_usd, 9) if row and known else 0.0,
        "cost_known": bool(row and known and row.cost_known),
        "notes": list(report.notes) if report else [],
        "error": report.error if report else None,
    }

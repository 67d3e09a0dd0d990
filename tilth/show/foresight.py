"""How good a forecast was: what was foreseen when a start began, beside what came. Pure."""

from __future__ import annotations

from tilth.base.values import Value
from tilth.contract.outcomes import StopReason
from tilth.log.events import Forecasted
from tilth.log.state import ForecastNote, SessionState
from tilth.log.task_state import TaskOutcome
from tilth.show import figures
from tilth.show.night_lines import forecast_words, money_range, whole_range
from tilth.show.times import clock_time
from tilth.task.forecast import Forecast, Range, held

# Where a run ended otherwise, what it would have reached is not known.
_FAIR_ENDS = frozenset({StopReason.ALL_DONE, StopReason.WALL_CLOCK})


class Foreseen(Value):
    """Hold the first forecast of the last start and what came of it; `held` is None if unknown."""

    made: str
    by: str | None = None
    basis: int = 0
    remaining: int = 0
    done: Range | None = None
    cost_usd: Range | None = None
    came_done: int = 0
    came_cost_usd: float | None = None
    held: bool | None = None


def foreseen(state: SessionState) -> Foreseen | None:
    """Set the first forecast of the last start beside how it ended."""
    last = len(state.starts) - 1
    notes = [note for note in state.forecasts if note.start == last]
    if not notes:
        return None
    # Before anything was known there was nothing to be wrong about.
    note = next((each for each in notes if each.said.basis), notes[0])
    said = note.said
    done, cost = _came(state, note)
    return Foreseen(
        made=note.ts,
        by=said.by,
        basis=said.basis,
        remaining=said.remaining,
        done=said.done,
        cost_usd=said.cost_usd,
        came_done=done,
        came_cost_usd=cost,
        held=_held(state, said, done, cost),
    )


def _came(state: SessionState, note: ForecastNote) -> tuple[int, float | None]:
    done = sum(task.outcome is TaskOutcome.DONE for task in state.tasks.values()) - note.done
    # A person may have sent back what was done by then.
    done = max(0, done)
    cost = round(state.work_usd - note.cost_usd, 9) if state.spent.cost_known else None
    return done, cost


def _held(state: SessionState, said: Forecasted, done: int, cost: float | None) -> bool | None:
    reason = state.stop.reason if state.stop and state.stopped else None
    if reason not in _FAIR_ENDS or said.task_seconds is None or said.seconds is None:
        return None
    forecast = Forecast(
        basis=said.basis,
        remaining=said.remaining,
        seconds_left=said.seconds_left,
        task_seconds=said.task_seconds,
        seconds=said.seconds,
        cost_usd=said.cost_usd,
        done=said.done,
    )
    return held(forecast, done, cost)


def foreseen_words(seen: Foreseen) -> str:
    """Say in one line what was foreseen and what came."""
    if not seen.basis:
        return "Nothing was foreseen: no task had been done on this repository yet."
    tasks = f"{whole_range(seen.done)} of {seen.remaining} tasks" if seen.done else ""
    cost = money_range(seen.cost_usd) if seen.cost_usd else ""
    came = figures.counted(seen.came_done, "task")
    paid = "" if seen.came_cost_usd is None else figures.money(seen.came_cost_usd)
    judged = {True: ": it held", False: ": it did not hold", None: ""}[seen.held]
    foretold = ", ".join(part for part in (tasks, cost) if part)
    got = ", ".join(part for part in (came, paid) if part)
    basis = figures.counted(seen.basis, "done task")
    return f"Foreseen at {clock_time(seen.made)} from {basis}: {foretold}; came: {got}{judged}."


def outlook(state: SessionState) -> str:
    """Give the latest forecast in words, or how the last one turned out; empty without one."""
    if not state.forecasts:
        return ""
    if state.stopped:
        seen = foreseen(state)
        return foreseen_words(seen) if seen else ""
    return forecast_words(state.forecasts[-1].said)

"""Foresight: before each task, how far the run will likely get is said and recorded.

With a deadline of the user's, no task is begun that the record gives no chance to be done in time.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tilth.base.clock import stamp
from tilth.base.errors import CapReached
from tilth.contract.outcomes import StopReason
from tilth.contract.prd import Plan, Status
from tilth.log.events import Forecasted
from tilth.task.bench import Bench
from tilth.task.forecast import Forecast, forecast

_OVER = frozenset({Status.DONE, Status.FAILED})


def foresee(bench: Bench, plan: Plan, *, starting: bool) -> None:
    """Say how far it will get; `starting` a task with no chance stops the run instead."""
    night = bench.night
    if night.paces is None:
        return
    past, now = night.paces(), bench.clock.now()
    if not past and night.deadline is None:
        return
    by = night.deadline or _cap_end(bench, now)
    left_s = (by - now).total_seconds()
    remaining = sum(task.status not in _OVER for task in plan.tasks)
    seen = forecast(past, remaining, left_s, bench.settings.jobs)
    cap = night.deadline is None
    bench.emit(_event(seen, by, remaining, left_s, cap=cap))
    if starting and not cap and seen is not None and not seen.gives_a_chance:
        least = f"even a quick task here took {seen.task_seconds.low / 60:.1f} minutes"
        said = f"no task is begun with {left_s / 60:.1f} minutes left: {least}"
        raise CapReached(StopReason.WALL_CLOCK, f"{said}; go on with `tilth resume`")


def _cap_end(bench: Bench, now: datetime) -> datetime:
    used_s = bench.clock.monotonic() - bench.started - bench.night.slept_s
    left_s = bench.settings.max_wall_clock_minutes * 60 - used_s
    # A cap of a year and more says nothing that could be shown.
    return now + timedelta(seconds=min(left_s, 366 * 86_400))


def _event(
    seen: Forecast | None, by: datetime, remaining: int, left_s: float, *, cap: bool
) -> Forecasted:
    return Forecasted(
        by=stamp(by),
        cap=cap,
        basis=seen.basis if seen else 0,
        remaining=remaining,
        seconds_left=round(left_s, 3),
        task_seconds=seen.task_seconds if seen else None,
        seconds=seen.seconds if seen else None,
        cost_usd=seen.cost_usd if seen else None,
        done=seen.done if seen else None,
        chance=seen.gives_a_chance if seen else True,
    )

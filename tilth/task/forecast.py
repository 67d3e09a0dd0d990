"""The forecast: how far a run will likely get, from how long and how dear tasks have been.

Quantiles of what was recorded, never means: one task that took all night says little about the
next. Pure; with no history there is no forecast rather than a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilth.base.values import Value

LOW, HIGH = 0.1, 0.9
# With fewer samples than this the edges are stretched: three tasks do not show the extremes.
ENOUGH = 5
STRETCH = 2.0


class Past(Value):
    """Hold what one task of the past took from its start to its end."""

    seconds: float
    cost_usd: float | None
    iterations: int


class Range(Value):
    """Hold what is likely: between these two in eight of ten cases."""

    low: float
    high: float


class Forecast(Value):
    """Say what is likely for the tasks that remain; `done` is None without a deadline."""

    basis: int
    remaining: int
    seconds_left: float | None
    task_seconds: Range
    seconds: Range
    cost_usd: Range | None
    done: Range | None

    @property
    def gives_a_chance(self) -> bool:
        """Tell whether one more task could be done in the time that is left."""
        return self.seconds_left is None or self.task_seconds.low <= self.seconds_left


def forecast(
    past: Sequence[Past], remaining: int, seconds_left: float | None, jobs: int = 1
) -> Forecast | None:
    """Foresee the remaining tasks; None where nothing like them was ever recorded."""
    if not past or remaining < 1:
        return None
    each = _span([task.seconds for task in past])
    rows = -(-remaining // max(1, jobs))
    prices = [task.cost_usd for task in past if task.cost_usd is not None]
    price = _span(prices) if len(prices) == len(past) else None
    return Forecast(
        basis=len(past),
        remaining=remaining,
        seconds_left=seconds_left,
        task_seconds=each,
        seconds=Range(low=each.low * rows, high=each.high * rows),
        cost_usd=price and Range(low=price.low * remaining, high=price.high * remaining),
        done=None if seconds_left is None else _done(each, remaining, seconds_left, jobs),
    )


def held(foreseen: Forecast, done: int, cost_usd: float | None) -> bool:
    """Tell whether what came lay within what was foreseen."""
    in_time = foreseen.done is None or foreseen.done.low <= done <= foreseen.done.high
    if foreseen.cost_usd is None or cost_usd is None or done < foreseen.remaining:
        return in_time
    return in_time and foreseen.cost_usd.low <= cost_usd <= foreseen.cost_usd.high


def _done(each: Range, remaining: int, seconds_left: float, jobs: int) -> Range:
    lanes = max(1, jobs)

    def fit(seconds: float) -> int:
        return remaining if seconds <= 0 else min(remaining, int(seconds_left / seconds) * lanes)

    return Range(low=fit(each.high), high=fit(each.low))


def _span(numbers: Sequence[float]) -> Range:
    low, high = quantile(numbers, LOW), quantile(numbers, HIGH)
    if len(numbers) < ENOUGH:
        return Range(low=low / STRETCH, high=high * STRETCH)
    return Range(low=low, high=high)


def quantile(numbers: Sequence[float], share: float) -> float:
    """Give the value below which a share of the numbers lies, between neighbours in proportion."""
    ordered = sorted(numbers)
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)

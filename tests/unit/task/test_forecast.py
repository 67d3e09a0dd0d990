"""The forecast: quantiles of what was recorded, and nothing where nothing was."""

from __future__ import annotations

import pytest

from tilth.task.forecast import Past, Range, forecast, held, quantile


def past(*seconds: float, cost: float | None = 1.0) -> tuple[Past, ...]:
    return tuple(Past(seconds=each, cost_usd=cost, iterations=5) for each in seconds)


def test_without_history_there_is_no_forecast() -> None:
    assert forecast((), 3, 600) is None


def test_with_nothing_left_to_do_there_is_no_forecast() -> None:
    assert forecast(past(60), 0, 600) is None


def test_a_quantile_lies_between_its_neighbours() -> None:
    assert quantile([4, 1, 3, 2], 0.5) == 2.5
    assert quantile([7], 0.9) == 7
    assert quantile([0, 10], 0.9) == 9


def test_one_long_night_does_not_move_the_forecast_as_it_would_a_mean() -> None:
    seen = forecast(past(*[60.0] * 19, 36_000.0), 1, None)
    assert seen is not None
    assert seen.task_seconds == Range(low=60, high=60)


def test_few_samples_stretch_the_edges() -> None:
    seen = forecast(past(60, 60), 1, None)
    assert seen is not None
    assert seen.task_seconds == Range(low=30, high=120)


def test_a_deadline_says_how_many_tasks_will_fit() -> None:
    seen = forecast(past(*[60.0] * 5, *[120.0] * 5), 10, 600)
    assert seen is not None
    assert seen.done == Range(low=5, high=10)
    assert seen.gives_a_chance


def test_a_task_that_never_was_so_quick_is_given_no_chance() -> None:
    seen = forecast(past(*[60.0] * 5), 2, 59)
    assert seen is not None
    assert not seen.gives_a_chance
    assert seen.done == Range(low=0, high=0)


def test_jobs_side_by_side_share_the_time() -> None:
    seen = forecast(past(*[60.0] * 5), 5, 120, jobs=2)
    assert seen is not None
    assert seen.seconds == Range(low=180, high=180)
    assert seen.done == Range(low=4, high=4)


def test_an_unknown_price_is_no_price() -> None:
    seen = forecast((*past(*[60.0] * 5), *past(60, cost=None)), 2, None)
    assert seen is not None
    assert seen.cost_usd is None


def test_cost_grows_with_what_remains() -> None:
    seen = forecast(past(*[60.0] * 5), 4, None)
    assert seen is not None
    assert seen.cost_usd == Range(low=4, high=4)


@pytest.mark.parametrize(
    ("done", "cost", "right"),
    [(5, 5.0, True), (4, 4.0, False), (10, 10.0, True), (10, 11.0, False), (7, 99.0, True)],
)
def test_a_forecast_is_held_against_what_came(done: int, cost: float, right: bool) -> None:
    seen = forecast(past(*[60.0] * 5, *[120.0] * 5), 10, 600)
    assert seen is not None
    assert held(seen, done, cost) is right

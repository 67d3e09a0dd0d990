"""The budget: iterations with their bonus, sums by role, and the caps."""

from __future__ import annotations

import pytest

from tilth.contract.outcomes import StopReason
from tilth.model.messages import Role, Usage
from tilth.task.budget import Allowance, Caps, Meter, Spend, readings


@pytest.mark.parametrize(
    ("budget", "bonus", "rejections", "total"),
    [
        (32, 5, 0, 32),
        (32, 5, 1, 37),
        (32, 5, 6, 62),
        (32, 5, 7, 64),
        (32, 5, 100, 64),
        (1, 5, 1, 2),
        (10, 0, 9, 10),
    ],
)
def test_a_rejection_earns_extra_iterations_up_to_the_budget_itself(
    budget: int, bonus: int, rejections: int, total: int
) -> None:
    allowance = Allowance(budget=budget, bonus=bonus)
    for _ in range(rejections):
        allowance = allowance.after_rejection()
    assert allowance.total == total


def test_an_allowance_is_a_value() -> None:
    allowance = Allowance(budget=32, bonus=5)
    allowance.after_rejection()
    assert allowance.total == 32


def test_a_call_without_a_price_is_counted_and_never_priced() -> None:
    spend = Spend().after(Usage(input_tokens=5), 0.25).after(Usage(input_tokens=7), None)
    assert (spend.calls, spend.cost_usd, spend.unpriced_calls) == (2, 0.25, 1)
    assert spend.usage.input_tokens == 12


def test_a_call_that_really_costs_nothing_is_priced() -> None:
    assert Spend().after(Usage(), 0.0).unpriced_calls == 0


def test_the_meter_reads_all_roles_as_they_stand_now() -> None:
    spend = {Role.WORKER: Spend().after(Usage(input_tokens=10, cache_read_tokens=500), 1.0)}
    meter = Meter(lambda: spend)
    assert meter.tokens == 10
    spend[Role.EVALUATOR] = Spend().after(Usage(output_tokens=5), None)
    spend[Role.WORKER] = spend[Role.WORKER].after(Usage(cache_write_tokens=3), 0.5)
    assert (meter.tokens, meter.cost_usd, meter.unpriced_calls) == (18, 1.5, 1)
    assert meter.by_role[Role.WORKER].calls == 2


def test_spends_add_up() -> None:
    one, two = Spend().after(Usage(input_tokens=1), 0.1), Spend().after(Usage(), 0.2)
    total = Spend.total((one, two.after(Usage(output_tokens=4), None)))
    assert (total.calls, total.usage.counted, total.cost_usd) == (3, 5, 0.3)
    assert not total.cost_known


CAPS = Caps(tokens=1000, cost_usd=10, wall_clock_s=600)


@pytest.mark.parametrize(
    ("tokens", "cost", "elapsed", "near", "reached"),
    [
        (0, 0.0, 0.0, [], []),
        (799, 7.99, 479.0, [], []),
        (800, 0.0, 0.0, ["token_cap"], []),
        (0, 8.0, 0.0, ["cost_cap"], []),
        (0, 0.0, 480.0, ["wall_clock"], []),
        (999, 9.99, 599.0, ["wall_clock", "token_cap", "cost_cap"], []),
        (1000, 0.0, 0.0, ["token_cap"], ["token_cap"]),
        (0, 10.0, 0.0, ["cost_cap"], ["cost_cap"]),
        (0, 0.0, 600.0, ["wall_clock"], ["wall_clock"]),
        (5000, 50.0, 6000.0, ["wall_clock", "token_cap", "cost_cap"], None),
    ],
)
def test_a_cap_is_near_at_four_fifths_and_reached_at_the_limit(
    tokens: int, cost: float, elapsed: float, near: list[str], reached: list[str] | None
) -> None:
    spend = {Role.WORKER: Spend().after(Usage(input_tokens=tokens), cost)}
    read = readings(Meter(lambda: spend), elapsed, CAPS)
    assert [reading.reason for reading in read if reading.near] == near
    assert [reading.reason for reading in read if reading.reached] == (
        near if reached is None else reached
    )


def test_cache_reads_do_not_use_up_the_token_cap() -> None:
    spend = {Role.WORKER: Spend().after(Usage(cache_read_tokens=10**9), 0.0)}
    assert not any(reading.near for reading in readings(Meter(lambda: spend), 0.0, CAPS))


def test_every_reading_names_the_setting_that_raises_it() -> None:
    named = {reading.reason: reading.setting for reading in readings(Meter(dict), 0.0, CAPS)}
    assert named == {
        StopReason.WALL_CLOCK: "TILTH_MAX_WALL_CLOCK_MINUTES",
        StopReason.TOKEN_CAP: "TILTH_MAX_TOKENS",
        StopReason.COST_CAP: "TILTH_MAX_COST_USD",
    }


def test_wall_clock_is_read_in_the_unit_of_its_setting() -> None:
    clock = readings(Meter(dict), 90.0, CAPS)[0]
    assert (clock.used, clock.limit) == (1.5, 10)

import calendar
from datetime import date, timedelta

import pytest

from schedule import charge_date, next_charge


def expected(start, period):
    month = start.year * 12 + start.month - 1 + period
    year, month = month // 12, month % 12 + 1
    return date(year, month, min(start.day, calendar.monthrange(year, month)[1]))


STARTS = [date(2023, 1, 31), date(2024, 2, 29), date(2023, 12, 31), date(2023, 8, 30), date(2023, 6, 1)]


@pytest.mark.parametrize("start", STARTS)
def test_thirty_years_of_charges(start):
    found = [charge_date(start, period) for period in range(360)]
    assert found == [expected(start, period) for period in range(360)]


def test_the_day_of_the_start_comes_back_after_a_short_month():
    start = date(2023, 1, 31)
    days = [charge_date(start, period).day for period in range(6)]
    assert days == [31, 28, 31, 30, 31, 30]


def test_a_century_that_is_no_leap_year():
    assert charge_date(date(2096, 2, 29), 48) == date(2100, 2, 28)
    assert charge_date(date(2024, 1, 31), 13 + 12 * 75) == date(2100, 2, 28)


@pytest.mark.parametrize("start", STARTS)
def test_the_next_charge_on_every_day_of_four_years(start):
    charges = [expected(start, period) for period in range(60)]
    for offset in range(4 * 366):
        today = start + timedelta(days=offset)
        assert next_charge(start, today) == min(day for day in charges if day > today), today


def test_the_day_before_the_start_gives_the_start():
    assert next_charge(date(2023, 3, 15), date(2023, 3, 14)) == date(2023, 3, 15)
    assert next_charge(date(2024, 2, 29), date(2000, 2, 29)) == date(2024, 2, 29)


@pytest.mark.parametrize("period", [-1, -12])
def test_negative_periods_are_refused(period):
    with pytest.raises(ValueError):
        charge_date(date(2023, 1, 31), period)

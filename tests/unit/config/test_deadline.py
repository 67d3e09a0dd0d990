"""The deadline: what a person may write after `--until`, and what it means."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tilth.base.errors import UserError
from tilth.config.deadline import read_deadline

BERLIN = ZoneInfo("Europe/Berlin")
EVENING = datetime(2026, 11, 16, 21, 0, tzinfo=UTC)
# The night in which clocks are put forward, and the one in which they are put back.
SPRING = datetime(2026, 3, 28, 22, 0, tzinfo=UTC)
AUTUMN = datetime(2026, 10, 25, 0, 45, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "now", "meant"),
    [
        ("07:00", EVENING, "2026-11-17T06:00"),
        ("7:00", EVENING, "2026-11-17T06:00"),
        (" 07:00:30 ", EVENING, "2026-11-17T06:00:30"),
        ("23:00", EVENING, "2026-11-16T22:00"),
        ("22:00", EVENING, "2026-11-17T21:00"),
        ("00:00", EVENING, "2026-11-16T23:00"),
        ("2026-11-18T07:00", EVENING, "2026-11-18T06:00"),
        ("2026-11-18 07:00", EVENING, "2026-11-18T06:00"),
        ("2026-11-18T07:00Z", EVENING, "2026-11-18T07:00"),
        ("2026-11-18T07:00+05:30", EVENING, "2026-11-18T01:30"),
        ("07:00", SPRING, "2026-03-29T05:00"),
        ("02:30", AUTUMN, "2026-10-25T01:30"),
        ("02:50", AUTUMN, "2026-10-25T00:50"),
        ("02:30", datetime(2026, 3, 29, 9, 0, tzinfo=UTC), "2026-03-30T00:30"),
    ],
)
def test_a_time_of_day_is_the_next_one_and_a_date_is_that_date(
    text: str, now: datetime, meant: str
) -> None:
    wanted = datetime.fromisoformat(meant).replace(tzinfo=UTC)
    assert read_deadline(text, now, BERLIN) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("25:00", "must be a time such as 07:00"),
        ("24:00", "must be a time such as 07:00"),
        ("07:60", "must be a time such as 07:00"),
        ("tomorrow", "got 'tomorrow'"),
        ("", "got ''"),
        ("٠٧:٠٠", "must be a time such as 07:00"),
        ("2026-11-18T٠٧:٠٠", "must be a time such as 07:00"),
        ("7", "must be a time such as 07:00"),
        ("2026-11-18", "must be a time such as 07:00"),
        ("2026-13-18T07:00", "must be a time such as 07:00"),
        ("9999-12-31T23:59-12:00", "must be a time such as 07:00"),
        ("2026-11-16T07:00", "has passed"),
        ("2026-11-16T21:00Z", "has passed"),
    ],
)
def test_what_is_no_time_to_come_is_refused_in_one_line(text: str, said: str) -> None:
    with pytest.raises(UserError) as told:
        read_deadline(text, EVENING, BERLIN)
    assert said in str(told.value)
    assert str(told.value).startswith("--until ")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("text", ["02:30", "2026-03-29T02:30"])
def test_a_time_that_the_clock_change_skips_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="does not exist on 2026-03-29: the clocks are put forward"):
        read_deadline(text, SPRING, BERLIN)

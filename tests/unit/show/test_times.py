"""Moments told to a person, in whatever time zone the machine says it is in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tilth.config.deadline import read_deadline
from tilth.log.night_events import Forecasted
from tilth.show.night_lines import forecast_words
from tilth.show.times import clock_time, day, local_time, minute

MOMENT = "2026-11-16T21:00:00.000Z"


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in a time zone that is further from UTC than any can be."""
    monkeypatch.setenv("TZ", "AAA99BBB")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("nowhere")
def test_a_time_zone_that_cannot_be_used_means_utc_and_it_is_said() -> None:
    assert clock_time(MOMENT) == "21:00:00Z"
    assert local_time(MOMENT) == "2026-11-16 21:00:00Z"
    assert (minute(MOMENT), day(MOMENT)) == ("Mon 21:00 UTC", "2026-11-16 21:00 UTC")
    now = datetime(2026, 11, 16, 21, 0, tzinfo=UTC)
    assert read_deadline("07:00", now) == datetime(2026, 11, 17, 7, 0, tzinfo=UTC)


@pytest.mark.parametrize(("seconds", "by"), [(3600, minute(MOMENT)), (9e9, day(MOMENT))])
def test_a_far_end_is_told_with_its_date(seconds: float, by: str) -> None:
    said = Forecasted(by=MOMENT, basis=3, remaining=1, seconds_left=seconds)
    assert f"likely done by {by}" in forecast_words(said)

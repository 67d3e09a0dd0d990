"""The clock: the one source of time, handed in so that tests never wait."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tell the time of day and the time that never runs backwards."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class SystemClock:
    """Tell the machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def read_moment(text: str | None) -> datetime | None:
    """Read a written moment, in UTC where it names no zone; None where it is none."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def here(moment: datetime) -> datetime:
    """Give a moment in the machine's own time zone; in UTC where TZ names one nobody can be in."""
    try:
        return moment.astimezone()
    except (ValueError, OverflowError):
        return moment.astimezone(UTC)


def stamp(moment: datetime) -> str:
    """Write a moment in UTC, ISO 8601, to the millisecond."""
    return (
        moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
    )

"""Moments: how long ago something was, in as few characters as a table has room for."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def read_moment(text: str) -> datetime | None:
    """Read a written moment; None where it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def age(text: str, now: datetime) -> str:
    """Write how long ago a written moment was: 40s, 12m, 3h, 5d."""
    moment = read_moment(text)
    if moment is None:
        return "?"
    seconds = max(0, int((now - moment).total_seconds()))
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"

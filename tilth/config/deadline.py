"""The deadline: the text of `--until` read as a moment. The present is handed in.

A time of day is the next such time here; a time that a clock change skips does not exist.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo

from tilth.base.clock import here
from tilth.base.errors import UserError

_TIME = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?", re.ASCII)


def read_deadline(text: str, now: datetime, zone: tzinfo | None = None) -> datetime:
    """Give the moment a user means, in UTC; `zone` is the machine's own unless it is given."""
    zone = zone or (UTC if here(now).tzinfo is UTC else None)
    try:
        moment = _of_day(text.strip(), now, zone) or _written(text.strip(), zone)
        moment = moment and moment.astimezone(UTC)
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise UserError(
            f"--until must be a time such as 07:00 or 2026-11-17T07:00, got {text[:40]!r}"
        )
    if moment <= now:
        raise UserError(f"--until {text} has passed: give a time that is still to come")
    return moment


def _of_day(text: str, now: datetime, zone: tzinfo | None) -> datetime | None:
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = (int(part or 0) for part in found.groups())
    wanted = time(hour, minute, second)
    today = now.astimezone(zone).replace(tzinfo=None)
    for day in (today.date(), today.date() + timedelta(days=1)):
        local = datetime.combine(day, wanted)
        moments = _moments(local, zone)
        if not moments and local > today:
            raise _skipped(text, local)
        for moment in moments:
            if moment > now:
                return moment
    # A day may have 25 hours, never so many that tomorrow's has passed.
    return None


def _written(text: str, zone: tzinfo | None) -> datetime | None:
    if not text.isascii() or not re.search(r"[T ]\d", text):
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        return moment
    moments = _moments(moment, zone)
    if not moments:
        raise _skipped(text, moment)
    # Of an hour that comes twice, the first.
    return moments[0]


def _skipped(text: str, local: datetime) -> UserError:
    return UserError(
        f"--until {text} does not exist on {local:%Y-%m-%d}: the clocks are put forward over it; "
        "give another time"
    )


def _moments(local: datetime, zone: tzinfo | None) -> list[datetime]:
    """Give the moments a local time stands for: one, two where clocks are put back, or none."""
    found = {_utc(local.replace(fold=fold), zone) for fold in (0, 1)}
    return sorted(
        moment for moment in found if moment.astimezone(zone).replace(tzinfo=None, fold=0) == local
    )


def _utc(local: datetime, zone: tzinfo | None) -> datetime:
    return (local.replace(tzinfo=zone) if zone else local).astimezone(UTC)

"""Times: how a moment is told to a person, in their own time zone, and how long ago it was."""

from __future__ import annotations

from datetime import UTC, datetime

from tilth.base.clock import here, read_moment

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"))


def clock_time(text: str, *, precise: bool = False) -> str:
    """Tell a written moment's local time of day with its zone: 22:15:30Z, 23:15:30+01:00."""
    moment = read_moment(text)
    if moment is None:
        return text[11:23] if precise else text[11:19]
    local = here(moment)
    shown = f"{local:%H:%M:%S}" + (f".{local.microsecond // 1000:03d}" if precise else "")
    return shown + _zone(local)


def minute(text: str) -> str:
    """Tell a written moment's local time to the minute, with its day: Tue 07:00."""
    moment = read_moment(text)
    return _told(moment, "%a %H:%M") if moment else text


def day(text: str) -> str:
    """Tell a written moment's local time to the minute, with its date: 2026-11-17 07:00."""
    moment = read_moment(text)
    return _told(moment, "%Y-%m-%d %H:%M") if moment else text


def _told(moment: datetime, form: str) -> str:
    local = here(moment)
    # Only where the machine's own zone cannot be used: then it must be said which one is.
    return local.strftime(form) + (" UTC" if local.tzinfo is UTC else "")


def local_time(text: str) -> str:
    """Tell a written moment's local date and time with its zone."""
    moment = read_moment(text)
    if moment is None:
        return text
    local = here(moment)
    return f"{local:%Y-%m-%d %H:%M:%S}{_zone(local)}"


def _zone(local: datetime) -> str:
    return local.isoformat()[-6:] if local.utcoffset() else "Z"


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

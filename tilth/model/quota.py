"""Quota resets: when an endpoint that is out of quota says it will answer again.

Reads headers and the words of an error; the present moment is handed in. Pure: it never sleeps and
never decides whether a wait is worth it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from tilth.base.clock import read_moment
from tilth.base.values import read_number

_RETRY_AFTER = (("retry-after-ms", 0.001), ("retry-after", 1.0))
_RESET = re.compile(r"(?:anthropic|x)-ratelimit-(?:(?P<what>[a-z-]+)-)?reset|x-ratelimit-reset-\w+")
# Beyond this a bare number is no longer a wait in seconds but a moment since 1970.
_EPOCH_S = 1e9
_EPOCH_MS = 1e12
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = re.compile(
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)"
    r"(?![a-z])",
    re.IGNORECASE,
)
_SPAN = rf"(?P<span>(?:{_PIECE.pattern}[\s,]*(?:and\s+)?)+)"
_IN_WORDS = re.compile(
    rf"(?:try again|retry|wait|reset[s]?|available)(?:\s+\w+){{0,3}}?\s+(?:in|after|for)\s+{_SPAN}",
    re.IGNORECASE,
)
_AT_MOMENT = re.compile(
    r"(?:reset[s]?|try again|retry|available)[^.\d|]{0,30}?"
    r"(?P<moment>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:Z|UTC|[+-]\d\d:?\d\d)?)",
    re.IGNORECASE,
)
_AT_EPOCH = re.compile(r"limit reached\s*\|\s*(?P<epoch>\d{9,13})\b", re.IGNORECASE)


def named_wait_s(headers: Mapping[str, str], message: str, now: datetime) -> float | None:
    """Give the seconds an endpoint asks to be left alone, or None if it names no time.

    `retry-after` is the endpoint's own word on this very request and wins, unless a limit that is
    used up says it comes back later: going there sooner would only be refused again. Without
    either, the message is read.
    """
    lowered = {name.lower(): value.strip() for name, value in headers.items()}
    waits = [wait for wait in (_retry_after(lowered, now), _resets(lowered, now)) if wait]
    if not waits:
        waits = [wait for wait in _in_message(message, now) if wait][:1]
    return max(waits, default=None)


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    for name, unit in _RETRY_AFTER:
        number = read_number(headers.get(name, ""))
        if number is not None:
            return number * unit if number > 0 else None
    try:
        return _until(parsedate_to_datetime(headers.get("retry-after", "")), now)
    except (ValueError, OverflowError):
        return None


def _resets(headers: Mapping[str, str], now: datetime) -> float | None:
    """Give the latest reset of a limit that is used up; which one that is, headers may not say."""
    found: dict[str, float] = {}
    for name, value in headers.items():
        if _RESET.fullmatch(name):
            wait = _wait_of(value, now)
            if wait is not None:
                found[name] = wait
    spent = [wait for name, wait in found.items() if _is_spent(name, headers)]
    known = any(_remaining_name(name) in headers for name in found)
    return max(spent if known else found.values(), default=None)


def _is_spent(reset: str, headers: Mapping[str, str]) -> bool:
    left = read_number(headers.get(_remaining_name(reset), ""))
    return left is not None and left <= 0


def _remaining_name(reset: str) -> str:
    return reset.replace("-reset", "-remaining")


def _wait_of(value: str, now: datetime) -> float | None:
    number = read_number(value)
    if number is not None:
        return _of_number(number, now)
    span = _span_s(value)
    return span if span is not None else _until(_moment(value), now)


def _of_number(number: float, now: datetime) -> float | None:
    if number >= _EPOCH_MS:
        number /= 1000
    wait = number - now.timestamp() if number >= _EPOCH_S else number
    return wait if wait > 0 else None


def _in_message(message: str, now: datetime) -> Iterator[float | None]:
    for found in _AT_EPOCH.finditer(message):
        yield _of_number(float(found["epoch"]), now)
    for found in _AT_MOMENT.finditer(message):
        yield _until(_moment(found["moment"]), now)
    for found in _IN_WORDS.finditer(message):
        yield _span_s(found["span"])


def _span_s(text: str) -> float | None:
    pieces = _PIECE.findall(text)
    rest = re.sub(r"[\s,]|and", "", _PIECE.sub("", text))
    if not pieces or rest:
        return None
    return sum(float(count) * _UNITS[_unit(name)] for count, name in pieces) or None


def _unit(name: str) -> str:
    name = name.lower()
    return "ms" if name.startswith(("ms", "milli")) else name[0]


def _moment(text: str) -> datetime | None:
    return read_moment(re.sub(r"\s?(?:Z|UTC)$", "+00:00", text.strip(), flags=re.IGNORECASE))


def _until(moment: datetime | None, now: datetime) -> float | None:
    if moment is None:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    wait = (moment - now) / timedelta(seconds=1)
    return wait if wait > 0 else None

"""Bookings of one meeting room, in minutes since midnight."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """Hold a span of time: the end is the first minute that is no longer part of it."""

    start: int
    end: int


def total(spans: list[Span]) -> int:
    """Add up the lengths of spans that do not overlap."""
    return sum(span.end - span.start for span in spans)

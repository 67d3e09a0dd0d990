"""The display beside the door."""

from __future__ import annotations

from rooms import Span


def clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def line(span: Span) -> str:
    """Say a span as people read it."""
    return f"{clock(span.start)}-{clock(span.end)}"

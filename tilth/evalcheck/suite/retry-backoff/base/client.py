"""Ask the weather service."""

from __future__ import annotations

from collections.abc import Callable

Get = Callable[[str], str]
Sleep = Callable[[float], None]


def forecast(get: Get, place: str, sleep: Sleep) -> str:
    """Give tomorrow's forecast for a place."""
    return get(f"/forecast/{place}")

"""Names of stations, asked for once and then remembered."""

from __future__ import annotations

from collections.abc import Callable

from cache import Cache


def cached_lookup(cache: Cache, ask: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """Wrap a lookup; that a station is unknown (None) is remembered too."""

    def lookup(code: str) -> str | None:
        if code not in cache:
            cache.put(code, ask(code))
        known: str | None = cache.get(code)
        return known

    return lookup

"""A cache for answers that stay true for a while."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any


class Cache:
    """Keep values by key."""

    def __init__(self, capacity: int, ttl: float, clock: Callable[[], float]) -> None:
        if capacity < 1 or ttl <= 0:
            raise ValueError("capacity and ttl must be positive")
        self._capacity = capacity
        self._ttl = ttl
        self._clock = clock
        self._values: dict[Hashable, Any] = {}

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a value."""
        self._values[key] = value

    def get(self, key: Hashable, default: Any = None) -> Any:
        """Give the value kept for a key, else the default."""
        return self._values.get(key, default)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

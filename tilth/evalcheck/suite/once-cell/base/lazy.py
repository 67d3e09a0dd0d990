"""Values that are made when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Make a value by a factory on first use, and keep it."""

    def __init__(self, factory: Callable[[], T]) -> None:
        self._factory = factory
        self._value: T | None = None

    @property
    def is_made(self) -> bool:
        """Tell whether the value is there."""
        return self._value is not None

    def get(self) -> T:
        """Give the value."""
        if self._value is None:
            self._value = self._factory()
        return self._value

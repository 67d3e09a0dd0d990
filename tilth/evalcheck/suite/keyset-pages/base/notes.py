"""Notes people leave on a board."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Note:
    """Hold one note; `created` is in whole seconds, and many notes may share one."""

    id: int
    created: int
    text: str

"""What a freeze found and how two trees differ, as values.

Paths are text that can always be written: bytes that are not UTF-8 stand as `\\xNN`.
"""

from __future__ import annotations

from typing import Literal

from tilth.values import Value

Status = Literal["A", "M", "D", "T"]
Why = Literal["unreadable", "special", "too large", "refused"]


class Change(Value):
    """Name one path that differs between two trees."""

    status: Status
    path: str


class Skipped(Value):
    """Name a file that could not enter a tree, and why."""

    path: str
    why: Why


class Frozen(Value):
    """Name a frozen tree, the git repositories found inside it, and what did not make it in."""

    tree: str
    nested: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()

"""Failpoints: named places between two steps, where a test can stop the world.

Nothing is armed outside of tests; no setting and no variable can arm it.
"""

from __future__ import annotations

from collections.abc import Callable

_armed: list[Callable[[str], None]] = []


def arm(hook: Callable[[str], None]) -> None:
    """Call the hook with the name of every place that is reached from now on."""
    _armed.append(hook)


def reach(name: str) -> None:
    """Say that a step is about to be taken, or has just been taken."""
    for hook in _armed:
        hook(name)

"""`tilth init`."""

from __future__ import annotations


def init() -> int:
    """Write a commented .env; one that exists is never touched.

    Example: tilth init
    """
    from tilth.config.init import init as write

    return write()

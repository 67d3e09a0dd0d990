"""Bare `tilth`."""

from __future__ import annotations


def home() -> int:
    """Say where things stand, and what to type next."""
    from tilth.show.overview import welcome

    return welcome()

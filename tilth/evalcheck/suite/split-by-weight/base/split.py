"""Shares of a common bill."""

from __future__ import annotations


def split_evenly(total: int, people: int) -> list[int]:
    """Give each person's share in cents; the first ones pay the cents left over."""
    if people < 1:
        raise ValueError("a bill needs at least one person")
    share, left = divmod(total, people)
    return [share + 1] * left + [share] * (people - left)

"""Amounts of money, always in whole cents."""

from __future__ import annotations


def as_text(cents: int) -> str:
    """Write an amount with two decimals: -1205 is -12.05."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"

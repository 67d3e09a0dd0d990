"""Text in columns of a terminal."""

from __future__ import annotations

ELLIPSIS = "…"


def width(text: str) -> int:
    """Give how many columns a text takes."""
    return len(text)


def fit(text: str, columns: int) -> str:
    """Make a text exactly so many columns wide: cut it, or fill it with blanks."""
    if len(text) > columns:
        return text[: columns - 1] + ELLIPSIS
    return text.ljust(columns)

"""Split one line of an export into its fields."""

from __future__ import annotations

SEPARATOR = ";"


def split_line(line: str) -> list[str]:
    """Give the fields of a line that stands without its line break."""
    return line.split(SEPARATOR)

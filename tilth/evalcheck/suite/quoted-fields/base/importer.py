"""Read the accounting program's export into rows."""

from __future__ import annotations

from collections.abc import Iterable

from fields import split_line


def read_rows(lines: Iterable[str]) -> list[dict[str, str]]:
    """Give one mapping a line, by the names in the first line."""
    split = [split_line(line.rstrip("\n")) for line in lines]
    if not split:
        return []
    header, *rows = split
    return [dict(zip(header, row, strict=True)) for row in rows]

"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from columns import fit


def render(header: Sequence[str], rows: Sequence[Sequence[str]], widest: int = 20) -> str:
    """Set a table, every column as wide as its widest cell, but never wider than `widest`."""
    lines = [list(header), *(list(row) for row in rows)]
    sizes = [min(widest, max(len(cell) for cell in column)) for column in zip(*lines, strict=True)]
    set_lines = [
        "  ".join(fit(cell, size) for cell, size in zip(line, sizes, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join(set_lines)

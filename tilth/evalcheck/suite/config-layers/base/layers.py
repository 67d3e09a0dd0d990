"""Settings in layers: defaults, the site's file, the user's file."""

from __future__ import annotations

from typing import Any

Table = dict[str, Any]


def merge(*layers: Table) -> Table:
    """Put layers on top of each other; later ones win."""
    merged: Table = {}
    for layer in layers:
        merged.update(layer)
    return merged

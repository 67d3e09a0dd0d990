"""What stands in a worktree and cannot enter the tree that is judged, and why."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

_MOST_NAMED = 20
_MOST_OF_A_PATH = 120


class LeftOut(StrEnum):
    """Say why something could not enter a tree."""

    UNREADABLE = "unreadable"
    SPECIAL = "special"
    TOO_LARGE = "too large"
    TOO_DEEP = "too deep"
    REFUSED = "refused"

    def words(self) -> str:
        """Say it to a person or a model."""
        return _WORDS[self]


_WORDS = {
    LeftOut.UNREADABLE: "cannot be read, so the base's version counts",
    LeftOut.SPECIAL: "neither a file nor a directory nor a link",
    LeftOut.TOO_LARGE: "larger than a file of a change may be",
    LeftOut.TOO_DEEP: "nested deeper than a change may go",
    LeftOut.REFUSED: "a name that git does not take",
}


def left_out_notes(left_out: Mapping[str, LeftOut]) -> tuple[str, ...]:
    """Name what was left out, one note each; what is beyond a readable list is counted."""
    notes = [f"{_short(path)}: not in this change: {why.words()}" for path, why in left_out.items()]
    more = len(notes) - _MOST_NAMED
    return (*notes[:_MOST_NAMED], *([f"… and {more} more not in this change"] if more > 0 else []))


def _short(path: str) -> str:
    """Keep both ends of a long path: where it begins, and what it is about."""
    if len(path) <= _MOST_OF_A_PATH:
        return path
    half = _MOST_OF_A_PATH // 2
    return f"{path[:half]}[… {len(path) - 2 * half} characters …]{path[-half:]}"

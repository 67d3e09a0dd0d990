"""The feed: notes a page at a time."""

from __future__ import annotations

from collections.abc import Iterable

from notes import Note

LARGEST_PAGE = 100


def newest_first(notes: Iterable[Note]) -> list[Note]:
    """Put notes in the order of the feed: newest first, of one second the larger id first."""
    return sorted(notes, key=lambda note: (note.created, note.id), reverse=True)

"""What was looked at on the disk: which paths, and what stood at each of them.

A path is looked at once and remembered. Later, one can ask whether all of it still stands as it was
seen. It follows no link and reads no file.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_NOTHING = (0, None)


class SeenPaths:
    """Look at paths and remember what stood there."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, str | None]] = {}

    def exists(self, path: str | Path) -> bool:
        """Tell whether anything stands there, a link that leads nowhere included."""
        return self._look(str(path)) != _NOTHING

    def is_directory(self, path: str | Path) -> bool:
        """Tell whether a directory stands there, not a link to one."""
        return stat.S_ISDIR(self._look(str(path))[0])

    def link(self, path: str) -> str | None:
        """Give the text of the link that stands there, if it is one."""
        return self._look(path)[1]

    def still_holds(self) -> bool:
        """Tell whether a new look would find the same everywhere."""
        return all(_what_stands_at(path) == seen for path, seen in self._seen.items())

    def _look(self, path: str) -> tuple[int, str | None]:
        seen = self._seen.get(path)
        if seen is None:
            seen = self._seen[path] = _what_stands_at(path)
        return seen


def _what_stands_at(path: str) -> tuple[int, str | None]:
    """Give what kind of file it is and, for a link, its text; nothing if it cannot be looked at."""
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
        return kind, os.readlink(path) if kind == stat.S_IFLNK else None
    except (OSError, ValueError):
        return _NOTHING

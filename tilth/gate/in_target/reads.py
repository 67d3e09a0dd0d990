"""Who reads which file of the project while its tests run: imports and data alike.

Every opening of a file below the root is noted with the nearest file of the project that asked for
it; what pytest opens by itself has no such reader. Imports and changes nothing.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_MOST = 20_000


class Reads:
    """Note who reads what; told from the base alone, whose code nobody has written to be seen."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root) + os.sep
        self._known: dict[str, str | None] = {}
        self._pairs: dict[tuple[str, str], None] = {}
        self._written: dict[tuple[str, str], None] = {}

    def begin(self) -> None:
        """Note from here on; a Python too old to be listened to reads nothing."""
        if hasattr(sys, "addaudithook"):
            sys.addaudithook(self._hear)

    def record(self) -> dict[str, list[tuple[str, str]]]:
        """Give pairs of a file of the project, "" for pytest, and what it read or wrote."""
        return {"reads": list(self._pairs), "writes": list(self._written)}

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if (
            event != "open"
            or len(self._pairs) + len(self._written) > _MOST
            or not isinstance(arguments[0], (str, bytes))
        ):
            return
        path = self._own(os.fsdecode(arguments[0]))
        if path is not None and not path.endswith(".pyc"):
            writes = arguments[2] & (os.O_WRONLY | os.O_RDWR)
            (self._written if writes else self._pairs)[self._reader(path), path] = None

    def _reader(self, path: str) -> str:
        frame = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            own = None if name.startswith("<") else self._own(name)
            if own is not None and own != path:
                return own
            frame = frame.f_back  # type: ignore[assignment]
        return ""

    def _own(self, path: str) -> str | None:
        """Give a path as the repository names it; None for what is not of the project."""
        if not os.path.isabs(path):
            path = os.path.abspath(path)
        if path not in self._known:
            real = os.path.realpath(path)
            inside = real.startswith(self._root)
            self._known[path] = real[len(self._root) :] if inside else None
        return self._known[path]

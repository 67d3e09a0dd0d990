"""The tail: a session's log read line by line, again and again while it grows.

A line that is not finished yet is left for the next time. It takes no lock, changes nothing, and
holds one line at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilth.errors import CorruptSession
from tilth.eventlog import vouch
from tilth.store import parse_line


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one line of the log as it was written and as it reads."""

    raw: bytes
    event: dict[str, Any]


class Tail:
    """Remember how far a log was read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._number = 0

    def lines(self) -> Iterator[Line]:
        """Give the whole lines that have come since the last time."""
        try:
            file = self._path.open("rb")
        except OSError as error:
            raise CorruptSession(f"{self._path}: cannot be read: {error.strerror}") from None
        with file:
            file.seek(self._offset)
            for raw in file:
                if not raw.endswith(b"\n"):
                    return
                event = parse_line(raw, self._path, self._number + 1)
                vouch(event, self._number + 1, self._path)
                self._number += 1
                self._offset += len(raw)
                yield Line(raw, event)

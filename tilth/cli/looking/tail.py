"""The tail: a session's log read line by line, again and again while it grows.

A line that is not finished yet is left for the next time. It takes no lock, changes nothing, and
holds one line at a time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilth.errors import CorruptSession
from tilth.eventlog import vouch
from tilth.store import parse_line

# A stop is short: a longer last line is none.
_LAST_BYTES = 64 * 1024


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


def last_stop(path: Path) -> str | None:
    """Give the reason of the stop a log ends with, from its last bytes alone; None without one."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_BYTES))
            whole = file.read().rpartition(b"\n")[0]
        event = json.loads(whole.rpartition(b"\n")[2])
        return str(event["payload"]["reason"]) if event["type"] == "stop" else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        # Only a hint to what comes next; whoever reads the log says what is wrong with it.
        return None

"""The reader: the one door at which a line of `events.jsonl` becomes a typed event.

It vouches for the numbering and the schema. A torn last line is left for the next time, a bad line
is a CorruptSession that names it, and a kind nobody knows is kept as it was written. It takes no
lock, changes nothing, and holds one line at a time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tilth.base.errors import CorruptSession
from tilth.base.plain_file import open_plain
from tilth.base.values import describe_faults
from tilth.log.events import EVENT_CLASSES, SCHEMA_VERSION, Event, Scope, Unknown
from tilth.session.store import parse_line, read_lines

# A stop is short: a longer last line is none.
_LAST_BYTES = 64 * 1024
# What may happen to a session that has stopped, and changes nothing about why.
_AFTER_A_STOP = ("notified", "taken")


def read_events(path: Path) -> Iterator[Event]:
    """Read a log from its start; a missing file is an empty log."""
    for number, line in enumerate(read_lines(path), start=1):
        yield _event(line, number, path)


class Tail:
    """Read a log that may still grow, and remember how far it was read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._number = 0

    def lines(self) -> Iterator[tuple[bytes, Event]]:
        """Give the whole lines that have come since the last time, as written and as they read.

        It serves those who only look: a payload that a later version wrote otherwise is unknown
        here, and no reason to stop.
        """
        try:
            file = open_plain(self._path)
        except OSError as error:
            raise CorruptSession(f"{self._path}: cannot be read: {error.strerror}") from None
        with file:
            file.seek(self._offset)
            for raw in file:
                if not raw.endswith(b"\n"):
                    return
                number = self._number + 1
                event = read_raw(raw, self._path, number)
                self._number = number
                self._offset += len(raw)
                yield raw, event


def read_raw(raw: bytes, path: Path, number: int) -> Event:
    """Read one whole line for those who only look; what cannot be read here is unknown."""
    return _event(parse_line(raw, path, number), number, path, lenient=True)


def parse_event(line: Mapping[str, Any]) -> Event:
    """Read one written event; raises ValidationError, KeyError or TypeError on a foreign shape."""
    kind, payload = line["type"], line["payload"]
    known = EVENT_CLASSES.get(kind)
    said = Unknown(type=kind, content=payload) if known is None else known.model_validate(payload)
    where = line.get
    scope = Scope(where("task_id"), where("iter"), where("trace_id"), where("span_id"))
    if not isinstance(line["ts"], str):
        raise TypeError(f"ts must be a text, got {line['ts']!r}")
    return Event(line["seq"], line["ts"], where("session", ""), scope, said)


def _event(line: dict[str, Any], number: int, path: Path, *, lenient: bool = False) -> Event:
    if line.get("seq") != number:
        raise CorruptSession(
            f"{path}: line {number} has seq {line.get('seq')!r}, expected {number}"
        )
    if line.get("type") == "session_start":
        _check_schema(line, path)
    try:
        return parse_event(line)
    except (ValidationError, KeyError, TypeError) as error:
        if lenient:
            return _as_it_stands(line, number)
        raise _not_what_it_says(line, number, path, error) from None


def _as_it_stands(line: dict[str, Any], number: int) -> Event:
    unknown = Unknown(type=str(line.get("type")), content=line.get("payload"))
    scope = Scope(line.get("task_id"), line.get("iter"))
    return Event(number, str(line.get("ts", "")), str(line.get("session")), scope, unknown)


def _check_schema(line: dict[str, Any], path: Path) -> None:
    payload = line.get("payload")
    version = payload.get("schema_version") if isinstance(payload, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise CorruptSession(
            f"{path}: line {line.get('seq')} is no session start that can be read: it names no "
            "schema; restore the file or start a new session"
        )
    if version > SCHEMA_VERSION:
        raise CorruptSession(
            f"{path}: written in schema {version!r}, this Tilth reads up to {SCHEMA_VERSION}; "
            "use the newer Tilth that wrote it"
        )


def _not_what_it_says(
    line: dict[str, Any], number: int, path: Path, error: Exception
) -> CorruptSession:
    if isinstance(error, ValidationError):
        said = describe_faults(error)
    else:
        said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return CorruptSession(
        f"{path}: line {number} ({line.get('type')}) cannot be trusted: {said}; "
        "restore the file or start a new session"
    )


def last_stop(path: Path) -> str | None:
    """Give the reason of the stop a log ends with, from its last bytes alone; None without one."""
    try:
        with open_plain(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_BYTES))
            whole = file.read().rpartition(b"\n")[0]
        for line in reversed(whole.split(b"\n")):
            event = json.loads(line)
            if event["type"] not in _AFTER_A_STOP:
                return str(event["payload"]["reason"]) if event["type"] == "stop" else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        # Only a hint to what comes next; whoever reads the log says what is wrong with it.
        return None
    return None

"""The book: one session's log as far as it was read, with a place for every event in it.

It keeps where each event stands in the file and what filters ask for, never the texts: a page of
events is read when it is looked at. It folds the log once, by the one fold, goes on where it
stopped when the log has grown, takes no lock and writes nothing.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from tilth.base.errors import CorruptSession
from tilth.base.plain_file import open_plain
from tilth.log.events import Event
from tilth.log.reader import Tail, read_raw
from tilth.log.state import SessionState, apply
from tilth.show.viewer.rows import PLAIN_TYPES, Actor, kind_of
from tilth.show.viewer.timeline import Timeline

_KINDS: dict[str, int] = {kind: number for number, kind in enumerate(Actor)}
_NO_TASK = ""


class Filter(NamedTuple):
    """Say which events are asked for; nothing named means all of them."""

    q: str = ""
    kind: str = ""
    task: str = ""


class Book:
    """Read one log on and on, and find its events again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = SessionState()
        self.timeline = Timeline()
        # How many events there were that may change more than what was spent.
        self.turns = 0
        self.lock = RLock()
        self._tail = Tail(path)
        self._size = -1
        self._ends = array("Q", [0])
        self._kinds = bytearray()
        self._types = array("H")
        self._tasks = array("H")
        self._names: dict[str, int] = {_NO_TASK: 0}
        self._type_names: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def refresh(self) -> int:
        """Read what has come since the last time; gives how many events there are."""
        with self.lock:
            try:
                size = os.stat(self.path).st_size
            except OSError as error:
                raise CorruptSession(f"{self.path}: cannot be read: {error.strerror}") from None
            if size != self._size:
                for raw, event in self._tail.lines():
                    self._take(raw, event)
                self._size = size
            return len(self)

    def _take(self, raw: bytes, event: Event) -> None:
        self.state = apply(self.state, event)
        self.timeline.take(event, self.state)
        self.turns += event.type not in PLAIN_TYPES
        task = event.task_id if isinstance(event.task_id, str) else _NO_TASK
        self._kinds.append(_KINDS[kind_of(event.payload)])
        self._types.append(self._type_names.setdefault(event.type, len(self._type_names)))
        self._tasks.append(self._names.setdefault(task, len(self._names)))
        self._ends.append(self._ends[-1] + len(raw))

    def span(self, seq: int) -> tuple[int, int]:
        """Say where in the file an event stands."""
        return self._ends[seq - 1], self._ends[seq]

    def seqs(self, kind: str = "", task: str = "", since: int = 0) -> Sequence[int]:
        """Number the events of one kind and task, those after another event alone if asked."""
        found: Sequence[int] = range(since + 1, len(self) + 1)
        if kind:
            wanted = _KINDS.get(kind, -1)
            found = [seq for seq in found if self._kinds[seq - 1] == wanted]
        if task:
            name = self._names.get(task, -1)
            found = [seq for seq in found if self._tasks[seq - 1] == name]
        return found

    def of_types(self, types: frozenset[str], task: str = "") -> list[int]:
        """Number the events of some types."""
        wanted = self._numbers(types)
        return [seq for seq in self.seqs(task=task) if self._types[seq - 1] in wanted]

    def except_types(self, types: frozenset[str], since: int = 0) -> list[int]:
        """Number the events of all other types."""
        left_out = self._numbers(types)
        return [seq for seq in self.seqs(since=since) if self._types[seq - 1] not in left_out]

    def _numbers(self, types: frozenset[str]) -> set[int]:
        return {number for name, number in self._type_names.items() if name in types}

    def events(self, seqs: Sequence[int]) -> Iterator[Event]:
        """Read events again from the file."""
        if not seqs:
            return
        with open_plain(self.path) as file:
            for seq in seqs:
                start, end = self.span(seq)
                file.seek(start)
                yield read_raw(file.read(end - start), self.path, seq)

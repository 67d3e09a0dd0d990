"""The search: which events of a book hold a text, whether they are drawn or not.

It looks into what the events hold and into the lines that tell of them, in either case of letters.
It reads the file from start to end and keeps nothing of it but the numbers it found.
"""

from __future__ import annotations

import json
import mmap
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from tilth.base.plain_file import open_plain
from tilth.session.store import parse_line
from tilth.show.lines import full
from tilth.show.viewer.book import Book, Filter
from tilth.show.viewer.rows import PLAIN_TYPES

_REMEMBERED = 8


class Search:
    """Find events in one book, and remember what was found last."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._found: OrderedDict[Filter, tuple[int, list[int]]] = OrderedDict()
        self._lines: dict[int, str] = {}
        self._lines_read = 0

    def find(self, wanted: Filter) -> Sequence[int]:
        """Number the events that are asked for."""
        book = self._book
        with book.lock:
            if not wanted.q:
                return book.seqs(wanted.kind, wanted.task)
            since, found = self._found.pop(wanted, (0, []))
            new = book.seqs(wanted.kind, wanted.task, since)
            found = found + list(self._matching(wanted.q.lower(), new))
            self._found[wanted] = len(book), found
            while len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
            return found

    def _matching(self, text: str, seqs: Sequence[int]) -> Iterator[int]:
        if not seqs:
            return
        self._read_lines()
        # Bytes know no case beyond ASCII, so that other texts are looked for in every line.
        needle = json.dumps(text, ensure_ascii=False)[1:-1].encode() if text.isascii() else b""
        with (
            open_plain(self._book.path) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as log,
        ):
            for seq in seqs:
                start, end = self._book.span(seq)
                raw = log[start:end]
                told = self._lines.get(seq, "")
                if text in told or (needle in raw.lower() and self._holds(raw, seq, text)):
                    yield seq

    def _holds(self, raw: bytes, seq: int, text: str) -> bool:
        """Tell whether a text stands in what an event holds, its names left aside."""
        line = parse_line(raw, self._book.path, seq)
        where = (line.get("type"), line.get("task_id"), line.get("payload"))
        return any(text in leaf.lower() for leaf in _leaves(where))

    def _read_lines(self) -> None:
        """Keep the lines of the events that are told in words of their own."""
        kept = self._book.except_types(PLAIN_TYPES, self._lines_read)
        for event in self._book.events(kept):
            self._lines[event.seq] = full(event).lower()
        self._lines_read = len(self._book)


def _leaves(said: Any) -> Iterator[str]:
    if isinstance(said, str):
        yield said
    elif isinstance(said, dict):
        for value in said.values():
            yield from _leaves(value)
    elif isinstance(said, list | tuple):
        for value in said:
            yield from _leaves(value)

"""What a check has played so far, kept on disk until it is finished, so that it can go on.

One file for each check, named by all that decides what it asks: the same command finds its own, and
another model, prompt or suite begins anew. A lock keeps two from playing the same at once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tilth.base.errors import CorruptSession, SessionBusy, UserError
from tilth.base.values import Value, canonical, digest, jsonable
from tilth.evalcheck.score import Play
from tilth.session.store import Journal, Lock, make_private, read_lines
from tilth.task.budget import Spend

FOLDER = "eval-check"


class Entry(Value):
    """Hold one line: a play, or what one cost that was broken off."""

    play: Play | None = None
    spend: Spend = Spend()


class Kept:
    """Read and add to the plays of one check."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries = [_read(line, path) for line in read_lines(path)]
        self._journal = Journal(path)

    @property
    def plays(self) -> tuple[Play, ...]:
        return tuple(entry.play for entry in self._entries if entry.play is not None)

    @property
    def spend(self) -> Spend:
        """Sum up what all of it has cost, with what was broken off."""
        spends = (entry.play.spend if entry.play else entry.spend for entry in self._entries)
        return Spend.total(spends)

    def add(self, entry: Entry) -> None:
        """Keep one more."""
        self._journal.append(json.dumps(jsonable(entry), ensure_ascii=False), sync=True)
        self._entries.append(entry)

    def finish(self) -> None:
        """Forget it: the check is done, and the same command measures anew."""
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        self._journal.close()


@contextmanager
def open_kept(home: Path, name: str) -> Iterator[Kept]:
    """Open what a check has played, for one process alone."""
    folder = home / FOLDER
    make_private(folder)
    lock = Lock(folder / f"{name}.lock")
    try:
        lock.acquire()
    except SessionBusy as busy:
        raise UserError("this check is being played already; wait for it or stop it") from busy
    try:
        kept = Kept(folder / f"{name}.jsonl")
        try:
            yield kept
        finally:
            kept.close()
    finally:
        lock.release()


def name_of(parts: Sequence[object]) -> str:
    """Name a check by all that decides what it asks."""
    return digest(canonical(list(parts)))[:16]


def _read(line: object, path: Path) -> Entry:
    try:
        return Entry.model_validate(line)
    except ValueError:
        raise CorruptSession(f"{path}: cannot be read; remove it to begin the check anew") from None

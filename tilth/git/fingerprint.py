"""The contents of a worktree as a fingerprint: equal as long as its files say the same.

It looks at every file's status and reads only those whose status changed since the last look, so
that asking again costs little more than a walk. Caches, virtual environments and git's own files do
not count. In a large tree a file that was there at the first look is known by its status until it
changes. A tree too large to walk has no fingerprint. It writes nothing.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tilth.base.generated import COMPILED_SUFFIXES, SEARCH_SKIPS, VIRTUALENV_MARK, encoded

MOST_FILES = 200_000
MOST_READ = 4_000
LARGEST_READ = 4 * 1024 * 1024

_ASIDE = encoded(*SEARCH_SKIPS, ".cache", ".coverage", ".hypothesis")
_VIRTUALENV = VIRTUALENV_MARK.encode()
# A file written this shortly before it was looked at may be written again unnoticed: clocks of
# file systems tick slowly.
_UNSETTLED_NS = 50_000_000


@dataclass(frozen=True, slots=True)
class _Seen:
    """Hold a file's status, if it can be relied on, and what the file says."""

    status: tuple[int, int, int, int, int] | None
    said: bytes


class Contents:
    """Fingerprint one directory again and again."""

    def __init__(
        self,
        root: Path,
        *,
        most_files: int = MOST_FILES,
        most_read: int = MOST_READ,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._root = os.fsencode(root)
        self._most_files = most_files
        self._most_read = most_read
        self._now_ns = now_ns
        self._known: dict[bytes, _Seen] = {}
        self._last: str | None = None
        self._too_large = False

    def fingerprint(self) -> str | None:
        """Give what all files say as one hash, or None if that cannot be told."""
        if self._too_large:
            return None
        paths = list(islice(_files(self._root), self._most_files + 1))
        self._too_large = len(paths) > self._most_files
        if self._too_large:
            return None
        try:
            return self._hash(paths)
        except OSError:
            # A file went away between two looks; the next time will tell.
            return None

    def _hash(self, paths: list[bytes]) -> str:
        looked, before = self._now_ns(), self._known
        # Reading a large tree whole would cost more than a remark is worth.
        reads = bool(before) or len(paths) <= self._most_read
        known = {path: self._look(path, looked, reads=reads) for path in paths}
        if self._last is None or not _agree(before, known):
            whole = hashlib.blake2b(digest_size=16)
            for path, seen in sorted(known.items()):
                whole.update(b"%d:%s%s" % (len(path), path, seen.said))
            self._last = whole.hexdigest()
        self._known = known
        return self._last

    def _look(self, path: bytes, looked: int, *, reads: bool) -> _Seen:
        found = os.lstat(path)
        status = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)
        before = self._known.get(path)
        if before is not None and before.status == status:
            return before
        settled = max(found.st_mtime_ns, found.st_ctime_ns) < looked - _UNSETTLED_NS
        if settled and not reads:
            return _Seen(status, b"%d %d %d %d %d" % status)
        return _Seen(status if settled else None, _said(path, found))


def _agree(before: dict[bytes, _Seen], now: dict[bytes, _Seen]) -> bool:
    return before.keys() == now.keys() and all(
        seen is before[path] or seen.said == before[path].said for path, seen in now.items()
    )


def _said(path: bytes, seen: os.stat_result) -> bytes:
    """Give what a file says: its kind, whether it can be run, and its content."""
    whole = hashlib.blake2b(b"%o" % (seen.st_mode & 0o170100), digest_size=16)
    if stat.S_ISLNK(seen.st_mode):
        whole.update(os.readlink(path))
    elif stat.S_ISREG(seen.st_mode) and seen.st_size <= LARGEST_READ:
        with open(path, "rb") as file:
            whole.update(file.read(LARGEST_READ))
    else:
        # Too large or too strange to read: any touch counts as a change.
        whole.update(b"%d %d" % (seen.st_size, seen.st_mtime_ns))
    return whole.digest()


def _files(root: bytes) -> Iterator[bytes]:
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError:
            # A folder that cannot be listed holds nothing to compare.
            continue
        if folder != root and any(entry.name == _VIRTUALENV for entry in entries):
            continue
        for entry in entries:
            if entry.name in _ASIDE or entry.name.endswith(COMPILED_SUFFIXES):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            else:
                yield entry.path

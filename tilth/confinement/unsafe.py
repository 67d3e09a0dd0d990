"""Files of the system that no confined command should open, though they stand in plain sight.

Two kinds: what only root may read, for those who run as root, and the sockets of other programs,
which a read-only mount does not close. It looks and never changes anything.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

_SOCKETS = Path("/proc/net/unix")
_PRIVATE_TREES = (Path("/etc"), Path("/var/spool"), Path("/var/lib/private"))
_PATH_COLUMN = 7
_OPEN_DIRECTORY = stat.S_IROTH | stat.S_IXOTH


def root_only(trees: tuple[Path, ...] = _PRIVATE_TREES, *, euid: int) -> tuple[Path, ...]:
    """Find what root alone can read; nobody else needs it hidden."""
    if euid != 0:
        return ()
    return tuple(path for tree in trees for path in _closed_to_others(tree))


def _closed_to_others(place: Path) -> Iterator[Path]:
    """Give files and whole directories without a right for others, not following links."""
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        try:
            about = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISDIR(about.st_mode):
            if about.st_mode & _OPEN_DIRECTORY == _OPEN_DIRECTORY:
                yield from _closed_to_others(Path(entry.path))
            elif os.listdir(entry.path):
                yield Path(entry.path)
        # Each one costs a mount: what is empty has nothing to tell.
        elif stat.S_ISREG(about.st_mode) and not about.st_mode & stat.S_IROTH and about.st_size:
            yield Path(entry.path)


def sockets(table: Path = _SOCKETS) -> tuple[Path, ...]:
    """Give the sockets that stand in the file system now."""
    try:
        lines = table.read_text("utf-8", "surrogateescape").splitlines()[1:]
    except OSError:
        return ()
    rows = (line.split(maxsplit=_PATH_COLUMN) for line in lines)
    paths = {row[_PATH_COLUMN] for row in rows if len(row) > _PATH_COLUMN}
    return tuple(Path(path) for path in sorted(paths) if path.startswith("/"))

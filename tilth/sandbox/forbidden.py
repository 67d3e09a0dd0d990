"""Files of the system that no confined command should open, though they stand in plain sight.

Two kinds: what only root may read, for those who run as root, and the sockets of other programs,
which a read-only mount does not close. It looks and never changes anything.
"""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SOCKETS = Path("/proc/net/unix")
_PRIVATE_TREES = (Path("/etc"), Path("/var/spool"), Path("/var/lib/private"))
_INODE_COLUMN, _PATH_COLUMN = 6, 7
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
            elif _holds_anything(entry.path):
                yield Path(entry.path)
        # Each one costs a mount: what is empty has nothing to tell.
        elif stat.S_ISREG(about.st_mode) and not about.st_mode & stat.S_IROTH and about.st_size:
            yield Path(entry.path)


def _holds_anything(directory: str) -> bool:
    try:
        return bool(os.listdir(directory))
    except OSError:
        return True


def sockets(table: Path = _SOCKETS) -> tuple[Path, ...]:
    """Give the sockets that stand in the file system now."""
    try:
        lines = table.read_text("utf-8", "surrogateescape").splitlines()[1:]
    except OSError:
        return ()
    rows = [line.split(maxsplit=_PATH_COLUMN) for line in lines]
    named = {(row[_PATH_COLUMN], row[_INODE_COLUMN]) for row in rows if len(row) > _PATH_COLUMN}
    paths = {Path(path) for path, _ in named if path.startswith("/")}
    # A name with "@" is an abstract one, which stands in no file system.
    relative = frozenset(item for item in named if not item[0].startswith(("/", "@")))
    return tuple(sorted(paths.union(_owned(relative) if relative else ())))


@functools.lru_cache(maxsize=1)
def _owned(sockets: frozenset[tuple[str, str]]) -> frozenset[Path]:
    """Find sockets with relative names, by where the programs that hold them stand."""
    names = {f"socket:[{inode}]": name for name, inode in sockets}
    found: set[Path] = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            held = {_led_to(process / "fd" / number) for number in os.listdir(process / "fd")}
            here = Path(os.readlink(process / "cwd"))
            found.update(here / names[one] for one in held & names.keys())
    return frozenset(found)


def _led_to(link: Path) -> str:
    """Follow a descriptor's link; one that was closed meanwhile leads nowhere."""
    try:
        return os.readlink(link)
    except OSError:
        return ""

"""Where tests put their files: in memory where there is room, else where the system says.

A run of all tests makes and removes some hundred thousand small files and has many of them synced,
which is much of what it costs on a disk. Nothing else about them changes.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, MutableMapping
from contextlib import suppress
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
# A whole run leaves a third of a gigabyte; programs beside it want memory too.
ROOM = 6 * 1024**3
_CGROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def use(environ: MutableMapping[str, str], shared: Path = SHARED_MEMORY, room: int = ROOM) -> None:
    """Have temporary files in memory, unless somebody said where they should be."""
    if "TMPDIR" in environ or not fits(shared, room):
        return
    place = shared / f"tilth-tests-{os.getuid()}"
    with suppress(FileExistsError):
        place.mkdir(mode=0o700)
    # What somebody else put there under that name is no place for ours.
    about = place.lstat()
    if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid():
        environ["TMPDIR"] = str(place)
        tempfile.tempdir = None


def fits(shared: Path, room: int) -> bool:
    """Tell whether a directory has room for the files of all tests, and lets programs run."""
    try:
        about = os.statvfs(shared)
    except OSError:
        return False
    if about.f_flag & (os.ST_NOEXEC | os.ST_RDONLY) or not os.access(shared, os.W_OK):
        return False
    return min([about.f_bavail * about.f_frsize, *_memory()]) >= room


def _memory() -> Iterator[int]:
    """Give how much memory there is for us, by all who have a say in it."""
    with suppress(FileNotFoundError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) * 1024
    for limit in _CGROUP_LIMITS:
        if limit.is_file() and (said := limit.read_text(encoding="ascii").strip()).isdecimal():
            yield int(said)

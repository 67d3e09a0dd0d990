"""What a killed Tilth leaves behind, and who clears it away.

Bubblewrap cannot be relied on to die with us: killed in the instant in which it starts, its child
waits for ever. So a guard, a shell that outlives us, waits for our end and then ends what carries
our mark and removes our control groups. Should the guard be killed as well, the next start sweeps
up after everybody who is dead, and removes the directories that the dead made for themselves below
the system's temporary one. Nothing that a living process owns is touched.
"""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tilth.sandbox.processes import is_dead, mark_of, owner
from tilth.sandbox.removal import remove_tree

_GUARD = """\
read -r word
[ "$word" = over ] && exit 0
mark=$1
shift
for try in 1 2 3 4 5 6; do
    for file in $(grep -lsaF "$mark" /proc/[0-9]*/environ); do
        pid=${file#/proc/}
        kill -9 "${pid%/environ}" 2>/dev/null
    done
    sleep 0.1
done
for group in "$@"; do
    rmdir "$group" 2>/dev/null
done
"""
_SHELL = "/bin/sh"
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_END_S = 2.0
_GROUP = re.compile(r"tilth-(\d+-\d+-\d+)-[0-9a-f]+")
_DIRECTORY = re.compile(r"tilth-(?:[a-z]+-)?(\d+-\d+-\d+)-[a-z0-9_]+")
# As groups were named before they told their owner's start; too old to be anybody's now.
_NAMELESS_GROUP = re.compile(r"tilth-\d+-[0-9a-f]{8}")
_OLD_S = 24 * 3600


@contextmanager
def guarded(groups: tuple[Path, ...]) -> Iterator[None]:
    """Have somebody clear up should this process be killed; with a normal end there is no need."""
    try:
        guard = subprocess.Popen(
            [_SHELL, "-c", _GUARD, "tilth-guard", f"{owner()}.", *map(str, groups)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PATH": _PATH},
            start_new_session=True,
        )
    except OSError:
        # The next start sweeps.
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError, subprocess.TimeoutExpired):
            guard.communicate(b"over\n", timeout=_END_S)


def sweep(cgroups: Path) -> None:
    """End the processes and remove the control groups of owners that are dead."""
    for pid in _strays():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    for group in _groups(cgroups):
        with suppress(OSError):
            group.rmdir()


def sweep_directories(place: Path) -> None:
    """Remove the scratch directories of owners that are dead; only our own user's."""
    for directory in _directories(place):
        with suppress(OSError):
            remove_tree(directory)


def _directories(place: Path) -> Iterator[Path]:
    with suppress(OSError), os.scandir(place) as listing:
        for entry in listing:
            named = _DIRECTORY.fullmatch(entry.name)
            if named and is_dead(named[1]) and _is_ours(entry):
                yield Path(entry.path)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()


def _strays() -> Iterator[int]:
    with suppress(OSError):
        for name in os.listdir("/proc"):
            mark = mark_of(int(name)) if name.isdigit() else None
            if mark is not None and is_dead(mark.rpartition("/")[2].partition(".")[0]):
                yield int(name)


def _groups(cgroups: Path) -> Iterator[Path]:
    for place in (cgroups, cgroups / "pids", cgroups / "memory"):
        with suppress(OSError):
            for entry in os.scandir(place):
                named = _GROUP.fullmatch(entry.name)
                if (named and is_dead(named[1])) or _is_ancient(entry):
                    yield Path(entry.path)


def _is_ancient(entry: os.DirEntry[str]) -> bool:
    if not _NAMELESS_GROUP.fullmatch(entry.name):
        return False
    return time.time() - entry.stat().st_mtime > _OLD_S

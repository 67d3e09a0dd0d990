"""What to tell a person about the wall in force: what it keeps, and what it cannot do."""

from __future__ import annotations

import os

from tilth.sandbox.bubblewrap import Bubblewrap
from tilth.sandbox.confinement import Confinement
from tilth.sandbox.landlock import Landlock
from tilth.sandbox.limits import Limits, counts_inside

_GIGA = 1024**3
_KEPT = (
    "worktree writable, the rest read-only, home and sessions hidden, network off unless allowed"
)


def describe(wall: Confinement, *, euid: int | None = None) -> list[str]:
    """Give one line for each thing worth knowing, the most important first."""
    is_root = (os.geteuid() if euid is None else euid) == 0
    match wall:
        case Bubblewrap():
            return [*_bubblewrap(wall), *_limits(wall, is_root=is_root)]
        case Landlock():
            return [*_landlock(), *_sizes(wall.limits)]
    return [
        "off: commands run unconfined, with all that you may read, write and reach",
        "use it only in a container or machine that holds nothing else",
    ]


def _bubblewrap(wall: Bubblewrap) -> list[str]:
    return [
        f"bubblewrap ({wall.program}): {_KEPT}, own /tmp and processes",
        "programs that stand in your home are out of sight, except the interpreters in use",
        "its /tmp is empty at the start of every command",
        "with TILTH_SANDBOX_NETWORK this machine's own ports are in reach too",
    ]


def _landlock() -> list[str]:
    return [
        f"Landlock (sandlock): {_KEPT}",
        "git does not work inside, because the worktree's .git cannot be shown without being open",
        "there is no /tmp, only the directory in TMPDIR, which lasts for the run",
        "a .venv that setup makes is not used, because a worker could change it",
        "an editable install is not led to the export by a mount, only by the import path",
        "a server on this machine's own ports cannot be started or reached, not even by tests",
    ]


def _limits(wall: Bubblewrap, *, is_root: bool) -> list[str]:
    lines = _sizes(wall.limits)
    if wall.cgroup is not None:
        lines.append("processes and memory are limited for all of a command together (cgroup)")
    elif is_root:
        lines.append("as root, without a cgroup, the number of processes is not limited")
    elif not counts_inside():
        lines.append("the number of processes is not limited: needs Linux 5.14")
    return lines


def _sizes(limits: Limits) -> list[str]:
    memory, file = limits.memory_bytes / _GIGA, limits.file_bytes / _GIGA
    return [
        f"limits: {limits.processes} processes, {memory:g} GB of memory each, {file:g} GB a file"
    ]

"""Limits on what one command may use up, and the program that sets them where a wall cannot wait.

A limit is never raised: where the system's own is lower, that one stays. The memory limit is on
each process's private data, because a limit on addresses breaks runtimes that reserve more than
they use.
"""

from __future__ import annotations

import platform
import re
import resource
import shutil

from tilth.base.values import Value

# Before this version processes are counted over all that the user runs, not in the wall alone.
_COUNTS_INSIDE = (5, 14)
_KILO = 1024
_NAMES = {
    resource.RLIMIT_DATA: "data",
    resource.RLIMIT_FSIZE: "fsize",
    resource.RLIMIT_NOFILE: "nofile",
    resource.RLIMIT_CORE: "core",
    resource.RLIMIT_NPROC: "nproc",
}
_SHELL = 'ulimit -c 0; ulimit -f "$1"; ulimit -d "$2"; ulimit -n "$3"; shift 3; exec "$@"'


class Limits(Value):
    """Hold the most that a command may use."""

    processes: int = 512
    memory_bytes: int = 8 * _KILO**3
    file_bytes: int = 2 * _KILO**3
    open_files: int = 8192
    tmp_bytes: int = 2 * _KILO**3


DEFAULT_LIMITS = Limits()


def amounts(limits: Limits) -> dict[int, int]:
    """Give the limits as the kernel knows them, by number; none is above the system's own."""
    wanted = {
        resource.RLIMIT_DATA: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    if counts_inside():
        wanted[resource.RLIMIT_NPROC] = limits.processes
    return {what: _below(what, value) for what, value in wanted.items()}


def limited(argv: tuple[str, ...], limits: Limits, *, prlimit: str | None) -> tuple[str, ...]:
    """Put in front of a command what sets its limits; without prlimit a shell does most of it."""
    found = amounts(limits)
    if prlimit is None:
        size, data = found[resource.RLIMIT_FSIZE] // 512, found[resource.RLIMIT_DATA] // _KILO
        words = map(str, (size, data, found[resource.RLIMIT_NOFILE]))
        return ("/bin/sh", "-c", _SHELL, "sh", *words, *argv)
    options = (f"--{_NAMES[what]}={value}" for what, value in found.items())
    return (prlimit, *options, "--", *argv)


def find_prlimit() -> str | None:
    """Find the program in the system's own directories, which every wall shows."""
    return shutil.which("prlimit", path="/usr/bin:/bin")


def counts_inside(release: str | None = None) -> bool:
    """Tell whether the kernel counts processes for each user namespace on its own."""
    numbers = re.findall(r"\d+", release or platform.release())[:2]
    return tuple(map(int, numbers)) >= _COUNTS_INSIDE


def _below(what: int, wanted: int) -> int:
    hard = resource.getrlimit(what)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)

"""A control group: limits for all processes of a command together, root's own included.

The kernel does not hold root to a number of processes, and no limit on one process bounds many. A
control group does both. Only who may make one gets it, which is mostly root outside a container;
elsewhere there is none and the walls do without.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tilth.sandbox.limits import Limits
from tilth.sandbox.processes import owner

ROOT = Path("/sys/fs/cgroup")
_LEAVE_S = 1.0


@dataclass(frozen=True)
class Cgroup:
    """Hold the directories of a group; there are two where each controller has its own tree."""

    directories: tuple[Path, ...]


@contextmanager
def open_cgroup(limits: Limits, root: Path = ROOT) -> Iterator[Cgroup | None]:
    """Make a group for the life of this process, if that is allowed here."""
    group = _make(limits, root) if os.geteuid() == 0 else None
    try:
        yield group
    finally:
        for directory in group.directories if group else ():
            _remove(directory)


def _make(limits: Limits, root: Path) -> Cgroup | None:
    name = f"tilth-{owner()}-{secrets.token_hex(4)}"
    if (root / "cgroup.controllers").exists():
        wanted = {
            root / name: {"pids.max": limits.processes, "memory.max": limits.memory_bytes},
        }
    else:
        wanted = {
            root / "pids" / name: {"pids.max": limits.processes},
            root / "memory" / name: {"memory.limit_in_bytes": limits.memory_bytes},
        }
    made: list[Path] = []
    try:
        for directory, files in wanted.items():
            directory.mkdir()
            made.append(directory)
            for file, value in files.items():
                (directory / file).write_text(str(value))
    except OSError:
        for directory in made:
            _remove(directory)
        return None
    return Cgroup(tuple(made))


def _remove(directory: Path) -> None:
    """Remove a group; its last process may still be on its way out."""
    give_up = time.monotonic() + _LEAVE_S
    while time.monotonic() < give_up:
        with suppress(OSError):
            directory.rmdir()
        if not directory.exists():
            return
        time.sleep(0.01)

"""Landlock: a wall of kernel rules around one command, where namespaces are not to be had.

Built on the `sandlock` package, which must be installed. The rules say what may be read and
written and cannot show one path in the place of another. So a read-only file inside a writable
directory (the worktree's `.git`) is closed altogether, binds are left out, and there is one
private temporary directory, named by `TMPDIR`, instead of an own `/tmp`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tilth.sandbox import landlock_entry
from tilth.sandbox.confinement import Access, Command
from tilth.sandbox.layout import Layout, PlaceKind, lay_out
from tilth.sandbox.limits import DEFAULT_LIMITS, Limits, find_prlimit, limited
from tilth.sandbox.processes import MARK

PACKAGE = "sandlock"

_COVERED = (Path("/tmp"), Path("/var/tmp"), Path("/run"), Path("/sys"))  # noqa: S108  # kept shut
_DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
_WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")


@dataclass(frozen=True)
class Landlock:
    """Wrap commands with the sandlock package."""

    tmp: Path
    limits: Limits = DEFAULT_LIMITS
    name: str = "landlock"

    def wrap(self, command: Command, access: Access) -> Command:
        own = access.model_copy(update={"writable": (*access.writable, self.tmp), "binds": ()})
        rules = self._rules(lay_out(own, _COVERED), access)
        entry = str(Path(landlock_entry.__file__))
        env = {**command.env, "TMPDIR": str(self.tmp)}
        request = {"rules": rules, "env": env, "cwd": str(command.cwd), "unset": MARK}
        # The limits that sandlock has no word for are set behind it, on the command itself.
        argv = limited(command.argv, self.limits, prlimit=find_prlimit())
        python = (sys.executable, "-I", "-B", entry, json.dumps(request), *argv)
        return command.model_copy(update={"argv": python, "env": env})

    def _rules(self, layout: Layout, access: Access) -> dict[str, object]:
        shown = sorted({str(path) for path in _readable(layout)} | set(_DEVICES))
        opened = [str(m.target) for m in layout.mounts if m.kind is PlaceKind.WRITABLE]
        rules: dict[str, object] = {
            "fs_readable": [*shown, "/proc"],
            "fs_writable": [*opened, *(d for d in _WRITABLE_DEVICES if os.path.exists(d))],
            "fs_denied": sorted(_denied(layout)),
            "max_memory": self.limits.memory_bytes,
            "max_processes": self.limits.processes,
        }
        if access.network:
            rules |= {"net_allow": ["tcp://*:*", "udp://*:*"], "net_allow_bind": ["*"]}
        return rules


def is_installed() -> bool:
    """Tell whether the package is there, without loading it."""
    return importlib.util.find_spec(PACKAGE) is not None


def _readable(layout: Layout) -> Iterator[Path]:
    """Name what may be read: everything on the way to a covered place but that place itself."""
    closed = {m.target for m in layout.mounts if m.source is None or m.kind is PlaceKind.HIDDEN}
    closed |= {Path("/dev"), Path("/proc")}
    yield from _open_below(Path("/"), closed)
    for mount in layout.mounts:
        if mount.kind is PlaceKind.READABLE:
            yield from _open_below(mount.target, closed)


def _open_below(place: Path, closed: set[Path]) -> Iterator[Path]:
    if place in closed:
        return
    if not any(path.is_relative_to(place) for path in closed):
        yield place
        return
    try:
        children = sorted(place.iterdir())
    except OSError:
        return
    for child in children:
        if not child.is_symlink():
            yield from _open_below(child, closed)


def _denied(layout: Layout) -> Iterator[str]:
    """Name what must be shut inside a writable place: a rule there can only take all away."""
    for mount in layout.mounts:
        cover = layout.cover(mount.target)
        inside = cover is not None and cover.kind is PlaceKind.WRITABLE
        if inside and mount.kind in (PlaceKind.READABLE, PlaceKind.HIDDEN):
            yield str(mount.target)

"""Bubblewrap: a wall of namespaces around one command.

The command gets a mount, process, network, IPC and user namespace of its own: the system
read-only, fresh `/proc` and `/dev` (read-only too: as root, a setting of the kernel could
otherwise be changed through it), empty `/tmp`, `/run` and the like, no capability, no way to
more namespaces, and no system call that would lead past them. The environment is the command's
alone: bubblewrap is started with it too, since it can be read behind the wall.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tilth.confinement import unsafe
from tilth.confinement.cgroup import Cgroup
from tilth.confinement.layout import Kind, Layout, Layouts, Mount
from tilth.confinement.limits import DEFAULT_LIMITS, Limits, amounts
from tilth.confinement.syscalls import refusals
from tilth.doorstep import Doorstep
from tilth.errors import ToolError
from tilth.processes import MARK
from tilth.sandbox import Access, Command

_WALL = (
    *("--unshare-all", "--unshare-user", "--disable-userns"),
    *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
)
_SYSTEM = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
_FRESH = (Path("/tmp"), Path("/var/tmp"), Path("/run"), Path("/dev/shm"))  # noqa: S108  # made empty
_SYS = Path("/sys")
# Runtimes count processors there.
_SYS_SHOWN = Path("/sys/devices/system")
_RESOLVER = Path("/etc/resolv.conf")
_SHM_BYTES = 1024**3


@dataclass(frozen=True)
class Bubblewrap:
    """Wrap commands with one bubblewrap program."""

    program: Path
    limits: Limits = DEFAULT_LIMITS
    cgroup: Cgroup | None = None
    name: str = "bwrap"
    _layouts: Layouts = field(
        default_factory=lambda: Layouts(_FRESH), init=False, repr=False, compare=False
    )

    def wrap(self, command: Command, access: Access) -> Command:
        _check_program(command)
        layout = self._layouts.of(_whole(access))
        argv = (
            str(self.program),
            *_WALL,
            *(("--share-net",) if access.network else ()),
            *("--unsetenv", MARK),
            *_SYSTEM,
            *self._mounts(layout),
            *("--remount-ro", "/dev", "--remount-ro", "/proc", "--chdir", str(command.cwd), "--"),
            *command.argv,
        )
        return command.model_copy(update={"argv": argv, "doorstep": self._doorstep()})

    def _doorstep(self) -> Doorstep:
        refused = refusals()
        return Doorstep(
            tells="--info-fd",
            waits="--block-fd",
            hands={} if refused is None else {"--seccomp": refused},
            limits=amounts(self.limits),
            groups=() if self.cgroup is None else self.cgroup.directories,
        )

    def _mounts(self, layout: Layout) -> Iterator[str]:
        for mount in layout.mounts:
            yield from self._mount(mount)
        for link in layout.links:
            yield from ("--symlink", link.text, str(link.target))
        for mount in layout.mounts:
            # Only now: what is shown below it needed a place to be put.
            if mount.kind is Kind.HIDDEN and mount.is_empty:
                yield from ("--remount-ro", str(mount.target))

    def _mount(self, mount: Mount) -> tuple[str, ...]:
        target = str(mount.target)
        if mount.kind is Kind.FRESH:
            size = _SHM_BYTES if mount.target.is_relative_to("/dev") else self.limits.tmp_bytes
            return ("--perms", "1777", "--size", str(size), "--tmpfs", target)
        if mount.source is None:
            return ("--tmpfs", target)
        flag = "--bind" if mount.kind is Kind.WRITABLE else "--ro-bind"
        return (flag, str(mount.source), target)


def _whole(access: Access) -> Access:
    """Add what holds for every command: the system's own secrets, sockets and devices."""
    resolver = (_RESOLVER,) if access.network else ()
    return access.model_copy(
        update={
            "hidden": (*access.hidden, _SYS, *unsafe.sockets()),
            "readable": (*access.readable, _SYS_SHOWN, *resolver),
        }
    )


def _check_program(command: Command) -> None:
    """Say that a program is missing before the wall turns that into an exit code."""
    program = command.argv[0]
    if os.sep not in program and shutil.which(program, path=command.env.get("PATH")) is None:
        raise ToolError(f"{program} cannot be run: no such program, is it installed?")

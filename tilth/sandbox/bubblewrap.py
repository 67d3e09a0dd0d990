"""Bubblewrap: a wall of namespaces around one command.

The command gets a mount, process, network, IPC and user namespace of its own: the system
read-only, fresh `/proc` and `/dev` (read-only too: as root, a setting of the kernel could
otherwise be changed through it), empty `/tmp`, `/run` and the like, no capability, no way to
more namespaces, and no system call that would lead past them. The environment is the command's
alone: bubblewrap is started with it too, since it can be read behind the wall.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tilth.base.errors import ToolError
from tilth.sandbox import forbidden
from tilth.sandbox.cgroup import Cgroup
from tilth.sandbox.confinement import Access, Command
from tilth.sandbox.handshake import Handshake
from tilth.sandbox.host import Fresh, HostPlan, Hosts, stamps
from tilth.sandbox.layout import Layout, Layouts, Mount, PlaceKind
from tilth.sandbox.limits import DEFAULT_LIMITS, Limits, amounts
from tilth.sandbox.processes import MARK
from tilth.sandbox.syscalls import refusals

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
# Each lane has a layout for its worker and one for its gate.
_MOST_WORDED = 34


@dataclass(frozen=True)
class Bubblewrap:
    """Wrap commands with one bubblewrap program."""

    program: Path
    limits: Limits = DEFAULT_LIMITS
    cgroup: Cgroup | None = None
    name: str = "bwrap"
    _last: list[tuple[int, bool, Layout, tuple[str, ...], tuple[Fresh, ...]]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )
    _hosts: Hosts = field(default_factory=Hosts, init=False, repr=False, compare=False)
    _layouts: Layouts = field(
        default_factory=lambda: Layouts(_FRESH), init=False, repr=False, compare=False
    )
    # Where programs were found: looked for again only when they are gone from there.
    _found: dict[tuple[str, str | None], str] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def wrap(self, command: Command, access: Access) -> Command:
        self._check_program(command)
        layout = self._layouts.of(_whole(access))
        walls, fresh = self._built(layout, network=access.network)
        argv = (str(self.program), *walls, "--chdir", str(command.cwd), "--", *command.argv)
        step = self._handshake
        plan = HostPlan(str(self.program), walls, step, fresh, stamps(layout))
        return command.model_copy(
            update={
                "argv": argv,
                "handshake": step,
                "inner": command.argv,
                "host": self._hosts.of(plan),
                "rebuilt": functools.partial(self.wrap, command, access),
            }
        )

    def _check_program(self, command: Command) -> None:
        """Say that a program is missing before the wall turns that into an exit code."""
        program, path = command.argv[0], command.env.get("PATH")
        if os.sep in program or os.access(self._found.get((program, path), ""), os.X_OK):
            return
        found = shutil.which(program, path=path)
        if found is None:
            raise ToolError(f"{program} cannot be run: no such program, is it installed?")
        self._found[program, path] = found

    def close(self) -> None:
        """End what was kept standing between commands."""
        self._hosts.close()

    def _built(self, layout: Layout, *, network: bool) -> tuple[tuple[str, ...], tuple[Fresh, ...]]:
        """Word a layout, and give the same words again for the very same one."""
        # Read and written as one: lanes word their own layouts at the same time.
        for last in tuple(self._last):
            if last[:2] == (id(layout), network):
                return last[3:]
        walls = (
            *_WALL,
            *(("--share-net",) if network else ()),
            *("--unsetenv", MARK),
            *_SYSTEM,
            *self._mounts(layout),
            *("--remount-ro", "/dev", "--remount-ro", "/proc"),
        )
        # The layout is held with its words, so that its number stays its own.
        fresh = self._fresh(layout)
        self._last[:] = [*self._last, (id(layout), network, layout, walls, fresh)][-_MOST_WORDED:]
        return walls, fresh

    def _fresh(self, layout: Layout) -> tuple[Fresh, ...]:
        places = [mount.target for mount in layout.mounts if mount.kind is PlaceKind.FRESH]
        return tuple(Fresh(str(place), _kept(layout, place)) for place in places)

    def _size(self, place: Path) -> int:
        return _SHM_BYTES if place.is_relative_to("/dev") else self.limits.tmp_bytes

    @functools.cached_property
    def _handshake(self) -> Handshake:
        refused = refusals()
        return Handshake(
            tells="--json-status-fd",
            waits="--block-fd",
            began=b'"exit-code"',
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
            if mount.kind is PlaceKind.HIDDEN and mount.is_empty:
                yield from ("--remount-ro", str(mount.target))

    def _mount(self, mount: Mount) -> tuple[str, ...]:
        target = str(mount.target)
        if mount.kind is PlaceKind.FRESH:
            size = str(self._size(mount.target))
            return ("--perms", "1777", "--size", size, "--tmpfs", target)
        if mount.source is None:
            return ("--tmpfs", target)
        flag = "--bind" if mount.kind is PlaceKind.WRITABLE else "--ro-bind"
        return (flag, str(mount.source), target)


def _kept(layout: Layout, place: Path) -> tuple[str, ...]:
    """Name what is mounted below a directory, each without what stands below it in turn."""
    below = [
        str(mount.target)
        for mount in layout.mounts
        if mount.target != place and mount.target.is_relative_to(place)
    ]
    return tuple(path for path in below if not any(path.startswith(f"{one}/") for one in below))


def _whole(access: Access) -> Access:
    """Add what holds for every command: the system's own secrets, sockets and devices."""
    resolver = (_RESOLVER,) if access.network else ()
    return access.model_copy(
        update={
            "hidden": (*access.hidden, _SYS, *forbidden.sockets()),
            "readable": (*access.readable, _SYS_SHOWN, *resolver),
        }
    )

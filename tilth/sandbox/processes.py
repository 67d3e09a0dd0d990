"""The processes that descend from one command, and their end.

On Linux this process becomes the reaper of its orphans, so whatever a command leaves running stays
below us, however often it forked. A process is ended only when it is known to come from the
command: by its ancestors, by its session, or by one of two marks that are handed down from parent
to child, in the environment and in a resource limit. Elsewhere only the command's process group is
ended. It never starts a process and never reads its output.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import resource
import secrets
import select
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tilth.base.pids import exists

MARK = "RUN_MARK"

_LINUX = sys.platform.startswith("linux")
_PR_SET_CHILD_SUBREAPER = 36
_END_S = 1.0
_SLICE_S = 0.02
_CHUNK_BYTES = 16 * 1024
_FIRST_PAUSE_S = 0.0005
# Linux has not heeded this limit since 2.4, but hands it down like any other.
_RLIMIT_LOCKS = 10
_marking = threading.Lock()


@dataclass(frozen=True)
class Process:
    """Hold what the kernel tells of one process; pid and start together name it for good."""

    pid: int
    parent: int
    session: int
    start: int
    is_zombie: bool


class ProcessTree:
    """Know every process that descends from one command; enter it before the command starts."""

    def __init__(self) -> None:
        self.mark = new_mark()
        self._limit = secrets.randbits(60)
        self._root: int | None = None
        self._known: dict[int, int] = {}
        self._sessions: set[int] = set()
        self._earlier: frozenset[int] = frozenset()

    def __enter__(self) -> ProcessTree:
        if _LINUX:
            _adopt_orphans(os.getpid())
            self._earlier = frozenset(_children(os.getpid()))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # An interrupt can fall between the start of the command and our knowing of it.
        if kind is not None:
            self.end()

    @contextlib.contextmanager
    def marking(self) -> Iterator[None]:
        """Lend our own process the mark that the command is to be born with.

        Set on the command after its start, it would come too late for a child that is quicker. A
        child that another thread starts in this moment gets it too; it is still left alone, being
        in our session.
        """
        if not _LINUX:
            yield
            return
        with _marking:
            before = resource.getrlimit(_RLIMIT_LOCKS)
            if before[1] == resource.RLIM_INFINITY:
                resource.setrlimit(_RLIMIT_LOCKS, (self._limit, before[1]))
            try:
                yield
            finally:
                resource.setrlimit(_RLIMIT_LOCKS, before)

    def plant(self, root: int) -> None:
        """Take the command's first process, the leader of a session of its own."""
        self._root = root
        self._sessions.add(root)

    def look(self) -> list[Process]:
        """Find what there is of the tree, remember it past its parents' death, reap what is over.

        The root comes before the orphans: once it is dead, all that lives hangs below a child of
        ours. So a look that finds nothing means that nothing is left.
        """
        if not _LINUX:
            return []
        found: dict[int, Process] = {}
        self._gather(found, [] if self._root is None else [self._root])
        self._gather(found, [*self._orphans(), *self._known])
        self._known = {process.pid: process.start for process in found.values()}
        root = found.get(self._root or 0)
        if root is not None and root.is_zombie:
            del found[root.pid]  # whoever started the command reads its exit status
        _reap(found.values())
        return list(found.values())

    def end(self) -> None:
        """Kill what is alive of the tree and wait, for a moment, until it is gone."""
        if self._root is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._root, signal.SIGKILL)
        give_up = time.monotonic() + _END_S
        while (found := self.look()) and time.monotonic() < give_up:
            alive = [process for process in found if not process.is_zombie]
            _kill(alive)
            # The first stands above the others: when it is gone, most of them are. The dead were
            # reaped by the look, and the next one tells what they left behind.
            for process in alive[:1]:
                with watch(process.pid) as end:
                    end.wait(_SLICE_S)
        self._root = None

    def _gather(self, found: dict[int, Process], pids: Iterable[int]) -> None:
        """Add processes and all their descendants."""
        queue = list(pids)
        while queue:
            pid = queue.pop()
            process = None if pid in found else _read(pid)
            if process is None or self._known.get(pid, process.start) != process.start:
                continue
            found[pid] = process
            self._sessions.add(process.session)
            queue.extend(_children(pid))

    def _orphans(self) -> list[int]:
        """Find our own new children that were born somewhere in the tree."""
        ours = [pid for pid in _children(os.getpid()) if pid not in self._earlier]
        return [pid for pid in ours if pid != self._root and self._is_orphan(pid)]

    def _is_orphan(self, pid: int) -> bool:
        process = _read(pid)
        # The command got a session of its own, and no process ever gets back into ours.
        if process is None or process.session == os.getsid(0):
            return False
        if self._known.get(pid) == process.start or process.session in self._sessions:
            return True
        mark = mark_of(pid)
        if mark is not None:
            return mark == self.mark or mark.startswith(f"{self.mark}/")
        # The environment can be cleared and a zombie has none; the limit stays.
        return str(self._limit).encode() in _words(f"/proc/{pid}/limits")


def new_mark() -> str:
    """Make a mark for a command's environment: whose it is, and which one.

    A harness that itself runs under a harness keeps the outer mark in front of its own.
    """
    outer = os.environ.get(MARK)
    own = f"{owner()}.{secrets.token_hex(8)}"
    return f"{outer}/{own}" if outer else own


def owner() -> str:
    """Name this process for good: by its namespace, its number and its start."""
    return _owner(os.getpid())


@functools.cache
def _owner(pid: int) -> str:
    process = _read(pid) if _LINUX else None
    space = os.stat("/proc/self/ns/pid").st_ino if process is not None else 0
    return f"{space}-{pid}-{process.start if process else 0}"


def is_dead(name: str) -> bool:
    """Tell whether an owner is gone; one of another namespace cannot be told, so it counts as not.

    A name that is no owner's at all does not count as dead either.
    """
    parts = name.split("-")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        return False
    if parts[0] != owner().partition("-")[0]:
        return False
    if not _LINUX:
        return not exists(int(parts[1]))
    process = _read(int(parts[1]))
    return process is None or process.start != int(parts[2]) or process.is_zombie


class End:
    """Wait for the end of one process, at once where the kernel tells of it."""

    def __init__(self, handle: int | None) -> None:
        self.handle = handle
        self._pause = _FIRST_PAUSE_S
        self._poll = select.poll()
        if handle is not None:
            self._poll.register(handle, select.POLLIN)

    def wait(self, at_most_s: float) -> None:
        """Return when the process has ended or the time is over; it may be sooner."""
        if self.handle is not None:
            self._poll.poll(at_most_s * 1000)
            return
        time.sleep(min(at_most_s, self._pause))
        self._pause = min(self._pause * 2, at_most_s)


@contextlib.contextmanager
def watch(pid: int) -> Iterator[End]:
    """Watch a process; one that is gone, or a system that cannot tell, makes the waits short."""
    handle = None
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(pid)
    try:
        yield End(handle)
    finally:
        if handle is not None:
            os.close(handle)


@functools.cache
def _adopt_orphans(pid: int) -> None:
    """Become the reaper of orphans, once; a fork does not inherit this, so the pid is asked for."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap(processes: Iterable[Process]) -> None:
    """Let go of the dead that fell to us; nobody else waits for them."""
    for process in processes:
        if process.is_zombie and process.parent == os.getpid():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def _kill(processes: Iterable[Process]) -> None:
    for process in processes:
        # Read once more: between look and kill the number may have passed to a stranger.
        current = _read(process.pid)
        if current is not None and current.start == process.start:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    if not _lists_children():
        return _children_by_scan(pid)
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for tid in threads for child in _words(f"/proc/{pid}/task/{tid}/children")]


@functools.cache
def _lists_children() -> bool:
    return os.path.exists("/proc/thread-self/children")


def _children_by_scan(pid: int) -> list[int]:
    """Find children the slow way, for kernels that do not list them."""
    everyone = (_read(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [process.pid for process in everyone if process is not None and process.parent == pid]


def _read(pid: int) -> Process | None:
    # The name, in brackets, may hold anything at all: count from the last bracket.
    fields = _bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 20:
        return None
    return Process(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        start=int(fields[19]),
        is_zombie=fields[0] in (b"Z", b"X"),
    )


def mark_of(pid: int) -> str | None:
    """Give the mark in a process's environment, if it has one that we may read."""
    prefix = f"{MARK}=".encode()
    for entry in _bytes(f"/proc/{pid}/environ").split(b"\0"):
        if entry.startswith(prefix):
            return entry.removeprefix(prefix).decode("utf-8", "replace")
    return None


def _words(path: str) -> list[bytes]:
    return _bytes(path).split()


def _bytes(path: str) -> bytes:
    """Read a file of /proc; a process that is gone or not ours to read has nothing to say."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    parts = []
    try:
        while part := os.read(file, _CHUNK_BYTES):
            parts.append(part)
    except OSError:
        return b""
    finally:
        os.close(file)
    return b"".join(parts)

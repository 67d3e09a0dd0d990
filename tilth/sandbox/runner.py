"""One command run to its end: bounded in time, output and what it leaves behind.

`run` returns within the timeout plus three seconds, whatever the command started, and keeps the
head and the tail of what it printed in constant memory. It does not confine anything: it runs what
it is given, exactly.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from tilth.base.errors import ToolError
from tilth.base.values import Value
from tilth.sandbox.handshake import Handshake, HandshakePipes
from tilth.sandbox.processes import MARK, End, ProcessTree, watch
from tilth.sandbox.removal import open_to_owner

KEEP_BYTES = 16 * 1024

_CHUNK_BYTES = 256 * 1024
_PIPE_BYTES = 1024 * 1024
_DRAIN_S = 1.5
_REAP_S = 0.3
_SLICE_S = 0.02
_BUSY_S = 5.0
# Faults of starting a program that a moment may cure: nothing has run yet.
_PASSING = (errno.ENOENT, errno.EAGAIN)
_AGAIN_S = 0.2
_MOST_WALLS = 6
_WALL_FELL = 1


class NotStarted(ToolError):
    """Tell that a program could not be started, so that nothing of it ran."""

    def __init__(self, command: Command, error: OSError | ValueError) -> None:
        super().__init__(_why_not(command, error))
        self.may_pass = isinstance(error, OSError) and error.errno in _PASSING


class Host(ABC):
    """Keep a sandbox standing in which commands can be run at less cost."""

    @abstractmethod
    def run(self, command: Command, keep_bytes: int) -> Finished | None:
        """Run a command to its end; None, with nothing begun, if it cannot be done here."""


class Command(Value):
    """Hold a program with its arguments, and all of the environment it will see.

    `argv` can be run as it stands. Where there is a host, `inner` is what it is asked to run.
    `rebuilt` gives the same behind a wall that is built anew, from the disk as it is then.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    timeout_s: float
    handshake: Handshake | None = None
    inner: tuple[str, ...] = ()
    host: Host | None = None
    rebuilt: Callable[[], Command] | None = None


class Finished(Value):
    """Hold how a command ended; the exit code is None when it had to be stopped."""

    exit_code: int | None
    output: str
    timed_out: bool
    duration_ms: int


class Excerpt:
    """Keep the first and the last bytes of a stream of any length."""

    def __init__(self, keep_bytes: int) -> None:
        self._keep = keep_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, data: memoryview) -> None:
        self._total += len(data)
        room = self._keep - len(self._head)
        self._head += data[:room]
        rest = data[room:]
        if len(rest) >= self._keep:
            self._tail[:] = rest[-self._keep :]
        else:
            self._tail += rest
        if len(self._tail) > 4 * self._keep:
            del self._tail[: -self._keep]

    def finish(self) -> str:
        """Give the text, with the number of bytes left out between head and tail."""
        if self._total <= 2 * self._keep:
            return _decoded(self._head + self._tail)
        head = self._head[: _last_boundary(self._head)]
        tail = self._tail[-self._keep :]
        tail = tail[_first_boundary(tail) :]
        omitted = self._total - len(head) - len(tail)
        return f"{_decoded(head)}\n[… {omitted} bytes omitted …]\n{_decoded(tail)}"


def run(command: Command, *, keep_bytes: int = KEEP_BYTES) -> Finished:
    """Run a command to its end or its timeout, and end all it started; ToolError if it cannot.

    A program that was not found, or found no room for a process, is tried once more: nothing ran.
    """
    # Shut by something that was killed before it could be opened again.
    open_to_owner(command.cwd)
    try:
        try:
            return _hosted_or_not(command, keep_bytes)
        except NotStarted as error:
            if not error.may_pass:
                raise
        time.sleep(_AGAIN_S)
        return _hosted_or_not(command, keep_bytes)
    finally:
        # A command may have shut the directory that everybody else still works in.
        open_to_owner(command.cwd)


def _hosted_or_not(command: Command, keep_bytes: int) -> Finished:
    hosted = None if command.host is None else command.host.run(command, keep_bytes)
    return hosted if hosted is not None else _run(command, keep_bytes)


def _run(command: Command, keep_bytes: int) -> Finished:
    """Run a command; behind another wall if its own fell before it began.

    A wall names files of other programs, sockets above all, and any of them can be gone by the time
    it is built.
    """
    for _ in range(_MOST_WALLS):
        finished, was_let_in = _run_once(command, keep_bytes)
        if was_let_in or finished.exit_code != _WALL_FELL or command.rebuilt is None:
            break
        command = command.rebuilt()
    return finished


def _run_once(command: Command, keep_bytes: int) -> tuple[Finished, bool]:
    started = time.monotonic()
    excerpt = Excerpt(keep_bytes)
    deadline = started + command.timeout_s
    with (
        ProcessTree() as tree,
        Pipe(excerpt) as pipe,
        HandshakePipes(command.handshake) as handshake,
    ):
        with tree.marking():
            process = _start(command, tree.mark, pipe, handshake)
        tree.plant(process.pid)
        try:
            handshake.let_in(deadline)
            timed_out = _listen(process, pipe, tree, deadline)
        finally:
            tree.end()
            exit_code = _exit_code(process)
        pipe.drain(time.monotonic() + _DRAIN_S)
        was_let_in = handshake.was_let_in()
    finished = Finished(
        exit_code=None if timed_out else exit_code,
        output=excerpt.finish(),
        timed_out=timed_out,
        duration_ms=round((time.monotonic() - started) * 1000),
    )
    return finished, was_let_in


class Pipe:
    """Carry what a command prints into an excerpt, never waiting for its end for ever."""

    def __init__(self, excerpt: Excerpt) -> None:
        self._excerpt = excerpt
        self._buffer = memoryview(bytearray(_CHUNK_BYTES))
        self._poll = select.poll()
        self._is_open = True

    def __enter__(self) -> Pipe:
        self._reader, self.writer = os.pipe()
        # A bigger pipe means fewer turns for a chatty command; the default does as well.
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._reader, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        self._poll.register(self._reader, select.POLLIN)
        return self

    def __exit__(self, *_: object) -> None:
        self.close_writer()
        os.close(self._reader)

    def close_writer(self) -> None:
        """Leave the writing end to the command alone, so that its end can be seen."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    @contextlib.contextmanager
    def heeding(self, end: End) -> Iterator[None]:
        """Let the end of a command end every wait, though others may hold the pipe open."""
        self._end = end
        if end.handle is None:
            yield
            return
        self._poll.register(end.handle, select.POLLIN)
        try:
            yield
        finally:
            self._poll.unregister(end.handle)

    def pump(self, wait_s: float) -> None:
        """Take one chunk, or wait a little for one."""
        if not self._is_open:
            self._end.wait(wait_s)
        elif any(ready == self._reader for ready, _ in self._poll.poll(wait_s * 1000)):
            count = os.readv(self._reader, [self._buffer])
            self._excerpt.add(self._buffer[:count])
            self._is_open = count > 0

    def drain(self, until: float) -> None:
        """Take what is still in the pipe; a process out of reach may hold it open."""
        while self._is_open and (left := until - time.monotonic()) > 0:
            self.pump(left)


def _start(
    command: Command, mark: str, pipe: Pipe, handshake: HandshakePipes
) -> subprocess.Popen[bytes]:
    try:
        process = _popen(
            handshake.before(command.argv),
            cwd=command.cwd,
            env={**command.env, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=pipe.writer,
            stderr=subprocess.STDOUT,
            pass_fds=handshake.lent,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise NotStarted(command, error) from error
    pipe.close_writer()
    return process


def _popen(argv: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Start a program; one that is still open for writing somewhere, after a moment.

    What another lane forks while we write a file has it open too, until it becomes its program.
    """
    until = time.monotonic() + _BUSY_S
    while True:
        try:
            return subprocess.Popen(argv, **how)
        except OSError as error:
            if error.errno != errno.ETXTBSY or time.monotonic() > until:
                raise
            time.sleep(_SLICE_S)


def _why_not(command: Command, error: OSError | ValueError) -> str:
    program = command.argv[0] if command.argv else "(no program)"
    if not isinstance(error, OSError):
        return f"{program} cannot be run: {error}"
    if error.errno == errno.E2BIG:
        return f"{program} cannot be run: the command is too long, put its text into a file"
    if not command.cwd.is_dir():
        return f"{program} cannot be run: the directory {command.cwd} does not exist"
    if error.errno == errno.ENOENT:
        return f"{program} cannot be run: no such program, is it installed?"
    return f"{program} cannot be run: {error.strerror}"


def _listen(
    process: subprocess.Popen[bytes], pipe: Pipe, tree: ProcessTree, deadline: float
) -> bool:
    """Read until the command exits; tell whether its time ran out first."""
    pause = _SLICE_S
    next_look = time.monotonic() + pause
    with watch(process.pid) as end, pipe.heeding(end):
        while not _has_exited(process):
            now = time.monotonic()
            if now >= deadline:
                return True
            if now >= next_look:
                tree.look()
                pause = min(pause * 2, 1.0)
                next_look = now + pause
            pipe.pump(min(deadline - now, _SLICE_S))
    return False


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Ask without reaping where that can be done: an unreaped pid cannot pass to a stranger."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, process.pid, flags) is not None
    except ChildProcessError:
        return True


def _exit_code(process: subprocess.Popen[bytes]) -> int | None:
    """Reap the command; a signal counts as a shell counts it."""
    try:
        code = process.wait(_REAP_S)
    except subprocess.TimeoutExpired:
        return None
    return 128 - code if code < 0 else code


def _decoded(data: bytes | bytearray) -> str:
    # NUL is legal text, but neither terminals nor every endpoint take it.
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")


def _last_boundary(data: bytearray) -> int:
    """Find where the last whole UTF-8 character ends."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            size = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if back < size else len(data)
    return len(data)


def _first_boundary(data: bytearray) -> int:
    """Find where the first whole UTF-8 character begins."""
    for index, byte in enumerate(data[:4]):
        if byte & 0xC0 != 0x80:
            return index
    return 0

"""Sandboxes that are kept standing: started once, and then asked to run command after command.

Building a sandbox costs several times what a short command does. The one that is used again and
again is kept, with one small program in it that starts the commands, for as long as all it was
built from still stands on the disk. What a command finds is the same as in a sandbox of its own: no
process of another, empty temporary directories, no capability. A host that fails before a command
has begun gives it back; it never runs one twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tilth.base.errors import ToolError
from tilth.sandbox import host_entry
from tilth.sandbox.handshake import Handshake, HandshakePipes
from tilth.sandbox.layout import Layout
from tilth.sandbox.processes import MARK, End, new_mark
from tilth.sandbox.runner import Command, Excerpt, Finished, Host, NotStarted, Pipe

_CAPABILITIES = ("--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP", "--as-pid-1")
# A sandbox that is used so often is worth keeping; validators use theirs less.
_WORTH_IT = 3
_MOST_KEPT = 2
# Beyond those, the ones that lanes are at: a worker's and a gate's for each, while it is used.
_MOST_IN_USE = 34
_IN_USE_S = 60.0
_START_S = 5.0
_ANSWER_S = 2.0
_SLICE_S = 0.5


@dataclass(frozen=True)
class Fresh:
    """Name a directory that every command finds empty but for what is mounted below it."""

    path: str
    kept: tuple[str, ...]


@dataclass(frozen=True)
class HostPlan:
    """Hold what a sandbox is built from; two that are equal are the same sandbox."""

    program: str
    walls: tuple[str, ...]
    step: Handshake
    fresh: tuple[Fresh, ...]
    stamps: tuple[tuple[int, int], ...]

    @property
    def key(self) -> tuple[Any, ...]:
        return (self.walls, self.stamps)


def stamps(layout: Layout) -> tuple[tuple[int, int], ...]:
    """Tell which files and directories stand behind the mounts; one made anew is another."""
    found = []
    for mount in layout.mounts:
        try:
            about = os.stat(mount.source or mount.target)
            found.append((about.st_dev, about.st_ino))
        except OSError:
            found.append((0, 0))
    return tuple(found)


class Hosts:
    """Keep the few sandboxes that are used again and again."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._uses: Counter[tuple[Any, ...]] = Counter()
        # The one that was asked for last stands at the end.
        self._kept: dict[tuple[Any, ...], StandingHost] = {}
        self._lock = threading.Lock()
        # Whoever drops a wall without closing it leaves nothing running either.
        weakref.finalize(self, _close, self._kept)

    def of(self, plan: HostPlan) -> Host | None:
        """Give the host for a plan, once that is worth its while."""
        key = plan.key
        with self._lock:
            self._uses[key] += 1
            if self._uses[key] < _WORTH_IT:
                return None
            host = self._kept.pop(key, None) or StandingHost(plan)
            self._kept[key] = host
            host.asked_for = self._now()
            dropped = [self._kept.pop(key) for key in self._spare(host)]
        for old in dropped:
            old.close()
        return host

    def _spare(self, wanted: StandingHost) -> list[tuple[Any, ...]]:
        """Name what need not be kept any more, beside the one that is wanted now."""
        # One in which a lane's command runs stays: closing it would wait for that.
        idle = [(key, one) for key, one in self._kept.items() if not one.is_busy]
        idle = [(key, one) for key, one in idle if one is not wanted]
        late = wanted.asked_for - _IN_USE_S
        old = [key for key, one in idle if one.asked_for < late][: self._above(_MOST_KEPT)]
        return old or [key for key, _ in idle][: self._above(_MOST_IN_USE)]

    def _above(self, most: int) -> int:
        return max(0, len(self._kept) - most)

    def close(self) -> None:
        with self._lock:
            _close(self._kept)


class StandingHost(Host):
    """Be one sandbox that is kept."""

    def __init__(self, plan: HostPlan) -> None:
        self._plan = plan
        self._fresh = [asdict(place) for place in plan.fresh]
        self.asked_for = 0.0
        self._busy = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._answers = b""
        self._is_fit = True

    def run(self, command: Command, keep_bytes: int) -> Finished | None:
        if not self._busy.acquire(blocking=False):
            return None
        try:
            channel = self._open()
            return None if channel is None else self._run(channel, command, keep_bytes)
        except BaseException:
            # An interrupt too: whatever runs in there must not outlive the call.
            self._end()
            raise
        finally:
            self._busy.release()

    @property
    def is_busy(self) -> bool:
        return self._busy.locked()

    def close(self) -> None:
        """End the sandbox and all in it."""
        with self._busy:
            self._end()
            self._is_fit = False

    def _run(self, channel: socket.socket, command: Command, keep: int) -> Finished | None:
        started = time.monotonic()
        excerpt = Excerpt(keep)
        with Pipe(excerpt) as pipe:
            if not self._send(channel, command, pipe):
                return None
            answer = self._listen(channel, pipe, started + command.timeout_s)
            pipe.drain(time.monotonic() + _ANSWER_S)
        timed_out = answer is None
        if answer is None:
            late = self._answer(channel, _ANSWER_S)
            if late is None or not late["clear"]:
                self._end()
        if answer is not None and not answer["clear"]:
            # The next command must find an empty place: in another sandbox.
            self._end()
        if answer is not None and answer["fault"] is not None:
            self._refuse(command, answer["fault"])
            return None
        return Finished(
            exit_code=None if timed_out or answer is None else _exit_code(answer["status"]),
            output=excerpt.finish(),
            timed_out=timed_out,
            duration_ms=round((time.monotonic() - started) * 1000),
        )

    def _refuse(self, command: Command, fault: dict[str, Any]) -> None:
        """Say why a program cannot be run; if it was the sandbox's own fault, be none any more."""
        if fault["step"] != "exec":
            self._end()
            self._is_fit = False
            return
        number, text = fault["errno"], fault["text"]
        error = ValueError(text) if number is None else OSError(number, os.strerror(number))
        raise NotStarted(command.model_copy(update={"argv": command.inner}), error)

    def _send(self, channel: socket.socket, command: Command, pipe: Pipe) -> bool:
        request = json.dumps(
            {
                "argv": command.inner,
                "env": command.env,
                "cwd": str(command.cwd),
                "fresh": self._fresh,
            }
        ).encode()
        try:
            socket.send_fds(channel, [b"r"], [pipe.writer])
            channel.sendall(struct.pack("=I", len(request)) + request)
        except OSError:
            # It is gone, and has not read enough to begin anything.
            self._end()
            return False
        pipe.close_writer()
        return True

    def _listen(self, channel: socket.socket, pipe: Pipe, until: float) -> dict[str, Any] | None:
        """Read output until the answer comes; None when the time ran out first."""
        with pipe.heeding(End(channel.fileno())):
            while (left := until - time.monotonic()) > 0:
                pipe.pump(min(left, _SLICE_S))
                answer = self._answer(channel, 0)
                if answer is not None:
                    return answer
        with contextlib.suppress(OSError):
            channel.send(b"e")
        return None

    def _answer(self, channel: socket.socket, wait_s: float) -> dict[str, Any] | None:
        channel.settimeout(wait_s)
        try:
            while b"\n" not in self._answers:
                part = channel.recv(4096)
                if not part:
                    raise ToolError("the sandbox ended in the middle of a command; try it again")
                self._answers += part
        except (BlockingIOError, TimeoutError):
            return None
        finally:
            channel.settimeout(None)
        line, _, self._answers = self._answers.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _open(self) -> socket.socket | None:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._channel is None and self._is_fit:
            self._is_fit = self._start()
        return self._channel

    def _start(self) -> bool:
        ours, theirs = socket.socketpair()
        code = Path(host_entry.__file__).read_text("utf-8")
        python = (sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", code, str(theirs.fileno()))
        argv = (self._plan.program, *self._plan.walls, *_CAPABILITIES, "--", *python)
        try:
            with theirs, HandshakePipes(self._plan.step) as handshake:
                self._process = subprocess.Popen(
                    handshake.before(argv),
                    cwd="/",
                    env={"PATH": os.defpath, "LANG": "C.UTF-8", MARK: new_mark()},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(*handshake.lent, theirs.fileno()),
                    start_new_session=True,
                )
                handshake.let_in(time.monotonic() + _START_S)
            self._channel = ours
            if self._answer(ours, _START_S) is not None:
                return True
        except (OSError, ToolError):
            self._channel = ours
        self._end()
        return False

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = self._channel = None
        self._answers = b""


def _close(kept: dict[tuple[Any, ...], StandingHost]) -> None:
    for host in kept.values():
        host.close()
    kept.clear()


def _exit_code(status: int | None) -> int | None:
    if status is None:
        return None
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code

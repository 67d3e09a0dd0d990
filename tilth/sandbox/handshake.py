"""The handshake with a wall: a started command waits until its limits are set.

A wall that takes part tells, through one descriptor, which process is to become the command, and
holds it back, through another, until it is let in. What is set on it meanwhile holds for the
command and all that it starts, takes no program in front of it, and is done while the wall is still
being built. It starts no process and builds no wall.
"""

from __future__ import annotations

import os
import re
import resource
import select
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tilth.base.errors import ToolError
from tilth.base.values import Value

_PID = re.compile(rb'"child-pid":\s*(\d+)')
_TOLD = b"}"
_CHUNK_BYTES = 4096


class Handshake(Value):
    """Say with which options a wall tells and waits, and what is to hold for the command.

    `limits` are resource limits by their number; `groups` are control groups it is put into. What
    the wall's program is to read from a descriptor stands in `hands`, by the option that names it.
    `began` is the word it tells at the end only if the command had begun; not all walls have one.
    """

    tells: str
    waits: str
    began: bytes = b""
    hands: Mapping[str, bytes] = {}
    limits: Mapping[int, int] = {}
    groups: tuple[Path, ...] = ()

    def set_on(self, pid: int) -> None:
        """Set all of it on a process."""
        for what, value in self.limits.items():
            resource.prlimit(pid, what, (value, value))
        for group in self.groups:
            (group / "cgroup.procs").write_bytes(b"%d" % pid)


class HandshakePipes:
    """Hold the descriptors of one command's handshake; without one there is nothing to do."""

    def __init__(self, handshake: Handshake | None) -> None:
        self._handshake = handshake
        self._open: set[int] = set()
        self._handed: dict[str, int] = {}
        self._told = b""

    def __enter__(self) -> HandshakePipes:
        if self._handshake is not None:
            self._hears, self._tells = os.pipe()
            self._waits, self._opens = os.pipe()
            self._open = {self._hears, self._tells, self._waits, self._opens}
            for option, content in self._handshake.hands.items():
                self._handed[option] = _holding(content)
            self._open.update(self._handed.values())
        return self

    def __exit__(self, *_: object) -> None:
        self._close(*self._open)

    @property
    def lent(self) -> tuple[int, ...]:
        """Name the descriptors that the wall's program must get."""
        if self._handshake is None:
            return ()
        return (self._tells, self._waits, *self._handed.values())

    def before(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Tell the wall's program of its descriptors."""
        step = self._handshake
        if step is None:
            return argv
        program, *rest = argv
        named = {step.tells: self._tells, step.waits: self._waits, **self._handed}
        words = (word for option, number in named.items() for word in (option, str(number)))
        return (program, *words, *rest)

    def let_in(self, until: float) -> None:
        """Set the limits on the command and let it go; ToolError if they cannot be set.

        It stays out until it is let in or the pipes are closed, so whoever gets the error must end
        it first. A wall that failed tells of no process, or of one that is gone; it says why.
        """
        if self._handshake is None:
            return
        self._close(*self.lent)
        pid = self._child(until)
        if pid is None:
            return
        try:
            self._handshake.set_on(pid)
        except ProcessLookupError:
            return
        except OSError as error:
            raise ToolError(f"the limits of a command cannot be set: {error}") from error
        # A wall that has ended since then waits no more; it has said why.
        with suppress(BrokenPipeError):
            os.write(self._opens, b"\n")

    def was_let_in(self) -> bool:
        """Tell of a wall that has ended whether the command began; it did if that is not told."""
        if self._handshake is None or not self._handshake.began:
            return True
        self._close(*self.lent)
        while self._hear(0):
            pass
        return self._handshake.began in self._told

    def _child(self, until: float) -> int | None:
        while _TOLD not in self._told:
            if not self._hear(max(0.0, until - time.monotonic())):
                return None
        found = _PID.search(self._told)
        return int(found[1]) if found else None

    def _hear(self, at_most_s: float) -> bool:
        """Take what is told next; False when there is nothing, in that time or any more."""
        poll = select.poll()
        poll.register(self._hears, select.POLLIN)
        chunk = os.read(self._hears, _CHUNK_BYTES) if poll.poll(at_most_s * 1000) else b""
        self._told += chunk
        return bool(chunk)

    def _close(self, *descriptors: int) -> None:
        for descriptor in descriptors:
            if descriptor in self._open:
                self._open.remove(descriptor)
                os.close(descriptor)


def _holding(content: bytes) -> int:
    """Open a file that stands nowhere and holds some bytes, at its start."""
    descriptor = os.memfd_create("tilth")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor

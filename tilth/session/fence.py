"""The fence: which run of a session may write, told by a number in the shared sessions directory.

A lock keeps two processes apart whose kernels agree about it. A machine that was cut off may go on
in the belief that it holds one. So a run that takes a session over takes a higher number first, and
every record and every commit of a fenced run is made only while its own number is the highest. A
session that was never shared has no fence and pays nothing for it.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tilth.base.errors import SessionBusy, Superseded
from tilth.session.store import PRIVATE_FILE, cannot_write, make_private

FENCES = "fences"
# What a write is done in; it raises Superseded instead once another run has taken over.
Guard = Callable[[], AbstractContextManager[None]]
_TRIES = 250
_PAUSE_S = 0.02


class Fence:
    """Hold one run's number on one session."""

    def __init__(self, sessions: Path, session: str, token: int) -> None:
        self.session = session
        self.token = token
        self._path = fence_file(sessions, session)
        self._handle = _open(self._path, os.O_RDWR)
        self._inside = 0
        # A lock of the kernel belongs to the open file: threads of one run share it.
        self._one_at_a_time = threading.RLock()

    @classmethod
    def take(cls, sessions: Path, session: str) -> Fence:
        """Take the next number: whoever had one before can write no more."""
        path = fence_file(sessions, session)
        try:
            make_private(path.parent)
        except OSError as error:
            raise cannot_write(path, error) from error
        handle = _open(path, os.O_RDWR | os.O_CREAT)
        try:
            _lock_alone(handle, session)
            token = _read(handle) + 1
            os.pwrite(handle, f"{token:019d}\n".encode(), 0)
            os.fsync(handle)
        except OSError as error:
            raise cannot_write(path, error) from error
        finally:
            os.close(handle)
        return cls(sessions, session, token)

    @contextmanager
    def passing(self) -> Iterator[None]:
        """Let one write pass; nobody can take a higher number before it is done."""
        with self._one_at_a_time:
            if not self._inside:
                fcntl.flock(self._handle, fcntl.LOCK_SH)
            self._inside += 1
            try:
                self._require_newest()
                yield
            finally:
                self._inside -= 1
                if not self._inside:
                    fcntl.flock(self._handle, fcntl.LOCK_UN)

    @property
    def is_superseded(self) -> bool:
        """Tell whether another run has taken over; a fence that is gone lets nobody through."""
        try:
            gone = not os.fstat(self._handle).st_nlink
            return gone or _read(self._handle) != self.token
        except OSError:
            return True

    def _require_newest(self) -> None:
        if self.is_superseded:
            raise Superseded(
                f"session {self.session} was taken over by another run; this one writes no more: "
                f"see `tilth info {self.session}`"
            )

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def fence_file(sessions: Path, session: str) -> Path:
    """Name the file that holds a session's highest number."""
    return sessions / FENCES / session


def _open(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags | os.O_CLOEXEC, PRIVATE_FILE)
    except OSError as error:
        raise cannot_write(path, error) from error


def _lock_alone(handle: int, session: str) -> None:
    """Wait until no write is under way; one that never ends belongs to a process that is stuck."""
    for _ in range(_TRIES):
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PAUSE_S)
    raise SessionBusy(
        f"session {session} is in the middle of a write that does not end: is its process stopped, "
        "or the disk away?"
    )


def _read(handle: int) -> int:
    text = os.pread(handle, 32, 0).strip()
    return int(text) if text.isdigit() else 0

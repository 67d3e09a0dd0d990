"""The spinner: one moving line that says what is waited for, on terminals alone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tilth.show import figures

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_FRAMES = "|/-\\"
_FRAME_S = 0.12
_WORTH_TIMING_S = 3
_NARROWEST = 20
_CLEAR = "\r\x1b[K"


class Spinner:
    """Turn while something is waited for. It never hides the cursor: a kill leaves it as it was."""

    def __init__(self, stream: TextIO, *, live: bool) -> None:
        self._stream = stream
        self._live = live
        self._lock = threading.RLock()
        self._doing = ""
        self._since = 0.0
        self._drawn = False
        self._done = threading.Event()
        self._thread: threading.Thread | None = None

    def turn(self, doing: str) -> None:
        """Say what is waited for from now on."""
        if not self._live:
            return
        with self._lock:
            if doing != self._doing:
                self._doing, self._since = doing, time.monotonic()
        if self._thread is None:
            self._done.clear()
            self._thread = threading.Thread(target=self._run, name="tilth-spinner", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Take the line away."""
        self._done.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        with self._lock:
            self._doing = ""
            self._wipe()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Leave the line free for something that is printed."""
        with self._lock:
            self._wipe()
            yield

    def _run(self) -> None:
        frames = (
            FRAMES if (self._stream.encoding or "").lower().startswith("utf") else _PLAIN_FRAMES
        )
        frame = 0
        while not self._done.wait(_FRAME_S):
            with self._lock:
                self._write(f"{_CLEAR}{self._line(frames[frame % len(frames)])}")
                self._drawn = True
            frame += 1

    def _line(self, frame: str) -> str:
        waited = time.monotonic() - self._since
        since = f" {figures.clock(waited)}" if waited >= _WORTH_TIMING_S else ""
        line, room = f"{frame} {self._doing}{since}", self._columns() - 1
        # A line that wraps could not be taken away again.
        return line if len(line) <= room else line[: max(1, room)]

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _NARROWEST
        except (OSError, ValueError):
            return _NARROWEST

    def _wipe(self) -> None:
        if self._drawn:
            self._drawn = False
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # A terminal that went away is no reason to fail.
            self._live = False
            self._done.set()

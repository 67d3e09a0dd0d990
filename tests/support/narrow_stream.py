"""A stream into a pipe that takes nothing for a while, as a terminal that nobody waits for."""

from __future__ import annotations

import io
import os
from types import TracebackType

FOR_EVER = 1_000_000


class _Full(io.FileIO):
    """Write nothing as often as it was told to, and say that it would have to wait."""

    refusals = 0

    def write(self, data: object, /) -> int | None:  # type: ignore[override]
        if self.refusals:
            self.refusals -= 1
            return None
        return super().write(data)  # type: ignore[arg-type]


class NarrowStream:
    """Hold such a stream and the end at which it is read."""

    def __init__(self) -> None:
        self._end, into = os.pipe()
        os.set_blocking(self._end, False)
        self._raw = _Full(into, "w")
        self.stream = io.TextIOWrapper(io.BufferedWriter(self._raw), encoding="utf-8")

    def refuse(self, times: int) -> None:
        """Take nothing for so many writes."""
        self._raw.refusals = times

    def read(self) -> str:
        """Give all that has come."""
        try:
            return os.read(self._end, 1 << 16).decode()
        except BlockingIOError:
            return ""

    def __enter__(self) -> NarrowStream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.refuse(0)
        self.stream.close()
        os.close(self._end)

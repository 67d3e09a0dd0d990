"""The bar: how far a long count has come and when it may end, on stderr.

On a terminal a bar that moves, gone at its end, with lines that stay above it; in a pipe lines
alone. It owns the drawing, not the words, and never stops what it tells of.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from tilth.base.safe_text import inert
from tilth.log.events import ModelRetry, Payload, QuotaWait
from tilth.show.figures import clock, joined
from tilth.show.lines import lines
from tilth.show.notices import tell, tell_from_handler
from tilth.show.pen import wants_live
from tilth.show.progress import Progress

if TYPE_CHECKING:
    from rich import progress as rich


class Bar:
    """Count steps towards a total; some may have been taken before."""

    def __init__(
        self,
        total: int,
        done: int,
        environ: Mapping[str, str],
        *,
        stream: TextIO | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._done, self._before = total, done, done
        self._stream = stream or sys.stderr
        self._now = now
        self._started = now()
        self._progress: rich.Progress | None = None
        self._task: Any = None
        if wants_live(self._stream, environ):
            self._progress = _rich(self._stream)
            self._task = self._progress.add_task("", total=total, completed=done, eta="")

    def __enter__(self) -> Bar:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def say(self, line: str) -> None:
        """Put a line above the bar."""
        if self._progress is None:
            tell(line)
        else:
            self._progress.console.print(inert(line), markup=False, highlight=False)

    def hear(self, payload: Payload) -> None:
        """Say what keeps an endpoint from answering; of all else, nothing."""
        if isinstance(payload, ModelRetry | QuotaWait):
            for note in lines(payload, Progress()):
                self.say(f"{note.label}: {joined((note.text, *note.details))}")

    def remark(self, line: str) -> None:
        """Take one line from a signal handler; on a terminal it is drawn with the next beat."""
        if self._progress is None:
            tell_from_handler(line)
        else:
            self._progress.tasks[0].description = inert(line)

    def step(self, line: str, *, stays: bool = True) -> None:
        """Count one more; on a terminal the line is left out unless it `stays`."""
        self._done += 1
        if self._progress is None:
            tell(f"{self._done}/{self._total} {self._eta()}: {line}")
            return
        if stays:
            self.say(line)
        self._progress.update(self._task, completed=self._done, eta=self._eta())

    def _eta(self) -> str:
        """Say how long the rest may take at the pace so far; what was done before has none."""
        taken = self._done - self._before
        pace = (self._now() - self._started) / taken if taken > 0 else 0.0
        return f"ETA {clock(pace * (self._total - self._done))}"


def _rich(stream: TextIO) -> rich.Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(file=stream, force_terminal=True, markup=False, highlight=False, emoji=False)
    return Progress(
        MofNCompleteColumn(),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[eta]}", markup=False),
        TextColumn("{task.description}", markup=False),
        console=console,
        refresh_per_second=2,
        transient=True,
    )

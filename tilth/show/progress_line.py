"""The progress line: what a command is busy with, on stderr while it works, and gone afterwards.

On terminals alone: a pipe gets what the command prints and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tilth.base.safe_text import one_line
from tilth.log.events import Event
from tilth.show.notices import tell
from tilth.show.pen import wants_live
from tilth.show.spinner import Spinner


class ProgressLine:
    """Say what is being done; other lines go above it."""

    def __init__(self, spinner: Spinner) -> None:
        self._spinner = spinner

    def at(self, doing: str) -> None:
        """Say what is done from now on."""
        self._spinner.turn(one_line(doing))

    def tell(self, line: str) -> None:
        """Print a line that stays."""
        with self._spinner.aside():
            tell(line)


class EventProgress:
    """Follow a run by its events: the task that is worked on, and how far it has come."""

    def __init__(self, line: ProgressLine, doing: str) -> None:
        self._line = line
        self._doing = doing

    def take(self, event: Event) -> None:
        """Show where an event stands."""
        if event.task_id is not None:
            turn = f", turn {event.scope.iter}" if event.scope.iter else ""
            self._line.at(f"{self._doing}: {event.task_id}{turn}")


def no_progress() -> ProgressLine:
    """Give a line that is never shown, for work that nobody watches."""
    return ProgressLine(Spinner(sys.stderr, live=False))


@contextmanager
def progress_line(doing: str, environ: Mapping[str, str] = os.environ) -> Iterator[ProgressLine]:
    """Show a progress line until the block ends."""
    spinner = Spinner(sys.stderr, live=wants_live(sys.stderr, environ))
    line = ProgressLine(spinner)
    line.at(doing)
    try:
        yield line
    finally:
        spinner.stop()

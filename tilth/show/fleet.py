"""`tilth fleet`: lines of what happens in it, a live table below them on a terminal, or JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tilth.base.clock import SystemClock, stamp
from tilth.base.errors import CorruptSession
from tilth.base.interrupt import Interrupt
from tilth.base.safe_text import one_line
from tilth.fleet.run import (
    Fleet,
    FleetOptions,
    Phase,
    Standing,
    check_fleet,
    open_engine,
    run_fleet,
)
from tilth.show import fleet_lines
from tilth.show.note import STYLES, Tone
from tilth.show.notices import tell, tell_from_handler
from tilth.show.pen import wants_live
from tilth.show.session_row import SessionRow, read_row
from tilth.show.tables import Page
from tilth.show.terminal import stop_on_signals
from tilth.show.times import clock_time

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table


def fleet(
    path: Path,
    options: FleetOptions,
    *,
    as_json: bool = False,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Run the units of a file and show how they fare."""
    checked = check_fleet(path, options, environ)
    interrupt = Interrupt()
    with ExitStack() as stack:
        engine = open_engine(options)
        stack.callback(engine.close)
        board = stack.enter_context(Board(checked, environ, silent=as_json))
        stack.enter_context(stop_on_signals(interrupt, _say))
        run_fleet(checked, engine, board, interrupt)
    page = Page.out(environ)
    if as_json:
        page.json(board.document())
    else:
        page.line(fleet_lines.tally(checked.standings), Tone.HEAD)
    return checked.exit_code


def _say(line: str) -> None:
    tell_from_handler("stopping all units after their current calls; once more to stop at once")


class Board:
    """Show a fleet: lines on stdout, and on a terminal a table on stderr that is kept up to date.

    What it knows of a session it reads from the shared directory, wherever the session runs.
    """

    def __init__(
        self,
        fleet: Fleet,
        environ: Mapping[str, str],
        *,
        silent: bool = False,
        out: TextIO | None = None,
        foot: TextIO | None = None,
    ) -> None:
        self._fleet = fleet
        self._out = out or sys.stdout
        self._page = None if silent else Page(self._out, environ)
        self._live = None if silent else _open_live(foot or sys.stderr, environ)
        self._rows: dict[str, SessionRow] = {}
        self._width = max(len(one_line(each.unit.name)) for each in fleet.standings)

    def __enter__(self) -> Board:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def began(self, standing: Standing) -> None:
        row = self._row(standing)
        self._line(standing, fleet_lines.began(standing, session=row.session if row else None))

    def ended(self, standing: Standing) -> None:
        self._look_at(standing)
        self._line(standing, *fleet_lines.ended(standing, self._row(standing)))
        for note in standing.report.notes if standing.report else ():
            self._notice(standing, note)

    def look(self, standings: Iterable[Standing]) -> None:
        for standing in standings:
            if standing.phase is Phase.RUNNING:
                self._look_at(standing)
        if self._live is not None:
            self._live.update(self._table(), refresh=True)

    def document(self) -> dict[str, object]:
        """Give the whole fleet as JSON data."""
        units = [fleet_lines.document(each, self._row(each)) for each in self._fleet.standings]
        return {"exit_code": int(self._fleet.exit_code), "units": units}

    def _row(self, standing: Standing) -> SessionRow | None:
        """Read where a unit's session stands, if it has one by now."""
        with suppress(CorruptSession):
            entry = self._fleet.register.entry(standing.unit.name)
            place = self._fleet.sessions / entry.session if entry else None
            return read_row(place) if place and place.is_dir() else None
        return None

    def _look_at(self, standing: Standing) -> None:
        row, name = self._row(standing), standing.unit.name
        if row is None or row.fault:
            return
        if name in self._rows or standing.tries == 1:
            for text, tone in fleet_lines.task_lines(self._rows.get(name), row):
                self._line(standing, text, tone)
        self._rows[name] = row

    def _line(self, standing: Standing, text: str, tone: Tone = Tone.PLAIN) -> None:
        if self._page is None:
            return
        when = clock_time(stamp(SystemClock().now()))
        name = one_line(standing.unit.name)
        with _apart(self._live):
            self._page.line(f"{when} {name:<{self._width}}  {one_line(text, 400)}", tone)
            self._out.flush()

    def _notice(self, standing: Standing, note: str) -> None:
        if self._page is not None:
            with _apart(self._live):
                tell(f"{one_line(standing.unit.name)}: {one_line(note, 400)}")

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in fleet_lines.COLUMNS:
            table.add_column(
                Text(column.title), justify="right" if column.right else "left", no_wrap=True
            )
        for standing in self._fleet.standings:
            row = fleet_lines.cells(standing, self._rows.get(standing.unit.name))
            table.add_row(*(Text(one_line(cell.text), STYLES[cell.tone]) for cell in row))
        return table


class _apart:  # noqa: N801  # reads as a step: with _apart(live)
    """Take a live table off the screen while a line is printed above it."""

    def __init__(self, live: Live | None) -> None:
        self._live = live

    def __enter__(self) -> None:
        if self._live is not None:
            self._live.stop()

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.start()


def _open_live(stream: TextIO, environ: Mapping[str, str]) -> Live | None:
    if not wants_live(stream, environ):
        return None
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    return Live(console=console, transient=True, auto_refresh=False)

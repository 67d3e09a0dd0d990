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
    UnitRun,
    check_fleet,
    open_engine,
    run_fleet,
)
from tilth.show import fleet_lines
from tilth.show.note import STYLES, Tone
from tilth.show.notices import after_the_fact, tell, tell_from_handler
from tilth.show.pen import let_go, wants_live
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
        engine = open_engine(options, len(checked.unit_runs))
        stack.callback(engine.close)
        if engine.remark:
            tell(engine.remark)
        board = stack.enter_context(Board(checked, environ, silent=as_json))
        stack.enter_context(stop_on_signals(interrupt, _say))
        run_fleet(checked, engine, board, interrupt)
    page = Page.out(environ)
    with after_the_fact():
        if as_json:
            page.json(board.document())
        else:
            page.line(fleet_lines.tally(checked.unit_runs), Tone.HEAD)
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
        foot = foot or sys.stderr
        self._foot = foot if not silent and wants_live(foot, environ) else None
        self._live: Live | None = None
        self._rows: dict[str, SessionRow] = {}
        self._width = max(len(one_line(each.unit.name)) for each in fleet.unit_runs)

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *_: object) -> None:
        self._wipe()

    def began(self, unit_run: UnitRun) -> None:
        row = self._row(unit_run)
        self._line(unit_run, fleet_lines.began(unit_run, session=row.session if row else None))

    def ended(self, unit_run: UnitRun) -> None:
        self._look_at(unit_run)
        self._line(unit_run, *fleet_lines.ended(unit_run, self._row(unit_run)))
        for note in unit_run.report.notes if unit_run.report else ():
            self._notice(unit_run, note)

    def look(self, unit_runs: Iterable[UnitRun]) -> None:
        for unit_run in unit_runs:
            if unit_run.phase is Phase.RUNNING:
                self._look_at(unit_run)
        self._draw()

    def document(self) -> dict[str, object]:
        """Give the whole fleet as JSON data."""
        units = [fleet_lines.document(each, self._row(each)) for each in self._fleet.unit_runs]
        return {"exit_code": int(self._fleet.exit_code), "units": units}

    def _row(self, unit_run: UnitRun) -> SessionRow | None:
        """Read where a unit's session stands, if it has one by now."""
        with suppress(CorruptSession):
            entry = self._fleet.register.entry(unit_run.unit.name)
            place = self._fleet.sessions / entry.session if entry else None
            return read_row(place) if place and place.is_dir() else None
        return None

    def _look_at(self, unit_run: UnitRun) -> None:
        row, name = self._row(unit_run), unit_run.unit.name
        if row is None or row.fault:
            return
        if name in self._rows or unit_run.tries == 1:
            for text, tone in fleet_lines.task_lines(self._rows.get(name), row):
                self._line(unit_run, text, tone)
        self._rows[name] = row

    def _line(self, unit_run: UnitRun, text: str, tone: Tone = Tone.PLAIN) -> None:
        if self._page is None:
            return
        when = clock_time(stamp(SystemClock().now()))
        name = one_line(unit_run.unit.name)
        self._wipe()
        try:
            self._page.line(f"{when} {name:<{self._width}}  {one_line(text, 400)}", tone)
            self._out.flush()
        except BlockingIOError:
            # Full for a moment: what was held back comes with the next line.
            return
        except OSError:
            # The units are at work, whether or not anybody can be told.
            let_go(self._out)

    def _notice(self, unit_run: UnitRun, note: str) -> None:
        if self._page is not None:
            self._wipe()
            tell(f"{one_line(unit_run.unit.name)}: {one_line(note, 400)}")

    def _draw(self) -> None:
        """Draw the table below whatever was printed last."""
        if self._foot is None:
            return
        if self._live is None:
            self._live = _open_live(self._foot)
        self._live.update(self._table(), refresh=True)

    def _wipe(self) -> None:
        """Take the table away: the next line goes where it stood."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _table(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in fleet_lines.COLUMNS:
            table.add_column(
                Text(column.title), justify="right" if column.right else "left", no_wrap=True
            )
        for unit_run in self._fleet.unit_runs:
            row = fleet_lines.cells(unit_run, self._rows.get(unit_run.unit.name))
            table.add_row(*(Text(one_line(cell.text), STYLES[cell.tone]) for cell in row))
        return table


def _open_live(stream: TextIO) -> Live:
    """Begin a table where the cursor is; one that was stopped would draw over what came since."""
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    live = Live(console=console, transient=True, auto_refresh=False)
    live.start()
    return live

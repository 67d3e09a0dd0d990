"""The footer: the rows at the foot of a live screen that say what goes on right now.

Pure but for the spinner: from where a run stands to at most a handful of rows, and how to take them
away again, also after the terminal has become narrower.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tilth.show import figures
from tilth.show.brush import NARROWEST, Brush
from tilth.show.progress import Progress
from tilth.show.spinner import FRAMES

if TYPE_CHECKING:
    from rich.text import Text

_WORTH_TIMING_S = 2
# With the row of what is spent and the one that counts the rest: at most eight.
_MOST_LANES = 6
_WIPE = "\r\x1b[2K"
_UP = "\x1b[1A"


@dataclass(frozen=True)
class Moment:
    """Hold what the events do not tell: how long it all takes, and what a model writes just now."""

    elapsed: float
    doing_for: float
    activity: str | None = None
    # The same of each lane, where there are several.
    lanes: Mapping[str, tuple[float, str | None]] = field(default_factory=dict)


class Footer:
    """Draw the rows over and over in one place."""

    def __init__(self, brush: Brush) -> None:
        self._brush = brush
        self._frame = 0
        self._drawn: tuple[int, ...] = ()

    def rows(self, now: Progress, moment: Moment) -> str:
        """Draw what goes on, and remember how wide each row is."""
        width = self._brush.columns - 1
        if width < NARROWEST:
            return ""
        self._frame = (self._frame + 1) % len(FRAMES)
        if now.lanes:
            heads = self._lane_rows(now, moment, width)
        else:
            since = _timed(now, moment)
            heads = [self._row(_name(now, width // 2), moment.activity or now.doing, since, width)]
        shown = [*heads, self._brush.text(f"  {_spent(now, moment.elapsed, width - 2)}", "dim")]
        for row in shown:
            row.truncate(width, overflow="ellipsis")
        self._drawn = tuple(row.cell_len for row in shown)
        return "\n".join(map(self._brush.ansi, shown))

    def _row(self, name: str, doing: str, since: str, width: int) -> Text:
        row = self._brush.text(f"{FRAMES[self._frame]} ", "cyan")
        row.append(f"{name}{figures.SEPARATOR}" if name else "", "bold")
        row.append(doing, "cyan")
        row.truncate(width - len(since), overflow="ellipsis")
        row.append(since, "dim")
        return row

    def _lane_rows(self, now: Progress, moment: Moment, width: int) -> list[Text]:
        """Draw one row a lane, and say of how many more there is no room to tell."""
        rows = []
        for task_id, doing in list(now.lanes.items())[:_MOST_LANES]:
            seconds, activity = moment.lanes.get(task_id, (0.0, None))
            mark = now.mark_of(task_id).strip()
            since = f" {figures.clock(seconds)}" if seconds >= _WORTH_TIMING_S else ""
            rows.append(self._row(f"{task_id} {mark}", activity or doing, since, width))
        more = len(now.lanes) - _MOST_LANES
        return [*rows, self._brush.text(f"  and {more} more", "dim")] if more > 0 else rows

    def erased(self) -> str:
        """Give what takes the rows away; each may have become several if the terminal shrank."""
        columns = max(1, self._brush.columns)
        rows = sum(max(1, -(-cells // columns)) for cells in self._drawn)
        self._drawn = ()
        return _WIPE + f"{_UP}{_WIPE}" * (rows - 1) if rows else ""


def _timed(now: Progress, moment: Moment) -> str:
    """Say how long it has been so, or how long a wait still lasts."""
    if now.wait_s is not None:
        return f", {figures.clock(now.wait_s - moment.doing_for)} left"
    return f" {figures.clock(moment.doing_for)}" if moment.doing_for >= _WORTH_TIMING_S else ""


def _name(now: Progress, room: int) -> str:
    """Say which task it is and where it stands, in as many words as there is room for."""
    task_id = now.task_id or ""
    mark = now.iteration_mark.strip() if now.iteration else ""
    long = (f"{task_id} {now.position}".strip(), f"iteration {mark}" if mark else "")
    return next(
        (said for said in map(figures.joined, (long, (task_id, mark))) if len(said) <= room),
        task_id,
    )


def _spent(now: Progress, elapsed: float, room: int) -> str:
    """Say how far the plan is and what is used of the caps, leaving out the last where it must."""
    parts = [now.tally, now.time(figures.clock(elapsed)), now.cost, now.tokens]
    if len(figures.joined(parts)) > room:
        cost, tokens = now.cost.replace(" of ", "/"), now.tokens.removesuffix(" tokens")
        parts = [now.tally, figures.clock(elapsed), cost, tokens]
    while len(parts) > 1 and len(figures.joined(parts)) > room:
        parts.pop()
    return figures.joined(parts)

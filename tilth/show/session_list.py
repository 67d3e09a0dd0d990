"""`tilth info`: all sessions, the newest first, one row each."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tilth.base.safe_text import one_line
from tilth.config.settings import Settings
from tilth.contract.outcomes import ExitCode
from tilth.session.catalog import list_sessions
from tilth.session.session import SessionStatus
from tilth.session.shown_mask import Masks
from tilth.show import figures
from tilth.show.note import Tone
from tilth.show.notices import tell
from tilth.show.session_row import BROKEN, INTERRUPTED, SessionRow, read_row
from tilth.show.tables import Cell, Column, Page
from tilth.show.times import age

_COLUMNS = (
    Column("session", whole=True),
    Column("status", whole=True),
    Column("tasks", right=True, wide=44),
    Column("cost", right=True, wide=56),
    Column("age", right=True, wide=50),
    Column("repo", wide=72),
    Column("feature", wide=90),
)
_TONES = {
    SessionStatus.RUNNING.value: Tone.HEAD,
    SessionStatus.DONE.value: Tone.GOOD,
    SessionStatus.FAILED.value: Tone.BAD,
    SessionStatus.WAITING.value: Tone.LOUD,
    SessionStatus.STOPPED.value: Tone.WARN,
    INTERRUPTED: Tone.WARN,
    BROKEN: Tone.BAD,
}


def list_all(
    settings: Settings, environ: Mapping[str, str], now: datetime, *, as_json: bool
) -> int:
    """Print every session there is."""
    sessions = settings.sessions_dir
    seen = [read_row(sessions / name) for name in reversed(list_sessions(sessions))]
    page = Page.out(environ, Masks(settings, environ).of_settings())
    if as_json:
        page.json({"sessions_dir": str(sessions), "sessions": [document(each) for each in seen]})
    elif seen:
        home = environ.get("HOME", "")
        page.table(_COLUMNS, [_row(each, now, home) for each in seen])
    else:
        tell(f"no session in {one_line(str(sessions))} yet; `tilth` says how to start")
    return ExitCode.DONE


def document(seen: SessionRow) -> dict[str, Any]:
    """Give a row as JSON data."""
    if seen.fault:
        return {"session": seen.session, "status": seen.status, "fault": seen.fault}
    return {
        "session": seen.session,
        "status": seen.status,
        "fault": None,
        "tasks_done": seen.done,
        "tasks_total": seen.total,
        "tasks_failed": list(seen.failed),
        "below_bar": list(seen.below_bar),
        "tasks_taken": list(seen.taken),
        "cost_usd": round(seen.cost_usd, 9),
        "cost_known": seen.cost_known,
        "cost_final": seen.cost_final,
        "created": seen.created,
        "updated": seen.updated,
        "source": seen.source,
        "branch": seen.branch,
        "feature": seen.feature,
    }


def _row(seen: SessionRow, now: datetime, home: str) -> list[Cell]:
    status = Cell(_status(seen), _TONES.get(seen.status, Tone.PLAIN))
    if seen.fault:
        blank = Cell("")
        return [Cell(seen.session), status, blank, blank, blank, Cell(seen.fault, Tone.BAD), blank]
    return [
        Cell(seen.session),
        status,
        Cell(f"{seen.done}/{seen.total}"),
        Cell(cost(seen)),
        Cell(age(seen.created, now)),
        Cell(homely(seen.source, home)),
        Cell(seen.feature or "", Tone.QUIET),
    ]


def _status(seen: SessionRow) -> str:
    below = f", {len(seen.below_bar)} below bar" if seen.below_bar else ""
    whole = seen.taken and set(seen.done_tasks) <= set(seen.taken)
    taken = "" if not seen.taken else ", taken" if whole else f", {len(seen.taken)} taken"
    return f"{seen.status}{below}{taken}"


def cost(seen: SessionRow) -> str:
    """Write what is known of a session's cost; a plus says that there is more to come."""
    if not seen.cost_usd and not (seen.cost_known and seen.cost_final):
        return "?"
    return figures.money(seen.cost_usd) + ("" if seen.cost_known and seen.cost_final else "+")


def homely(path: str, home: str) -> str:
    """Shorten a path below the user's home."""
    if home and (path == home or path.startswith(home.rstrip("/") + "/")):
        return "~" + path[len(home.rstrip("/")) :]
    return path

"""Bare `tilth`: where things stand, and the next useful command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime

from tilth.base.clock import Clock, SystemClock
from tilth.base.errors import CorruptSession
from tilth.base.safe_text import one_line
from tilth.config.settings import Settings, load
from tilth.contract.operator_requests import still_open
from tilth.contract.outcomes import ExitCode
from tilth.log.reader import last_stop
from tilth.model.messages import Role
from tilth.session.catalog import open_to_look
from tilth.session.session import Session, list_sessions
from tilth.show import figures
from tilth.show.next_commands import next_commands
from tilth.show.note import Tone
from tilth.show.session_list import cost, homely
from tilth.show.session_row import SessionRow, read_row
from tilth.show.tables import Page
from tilth.show.times import age


def welcome(*, environ: Mapping[str, str] = os.environ, clock: Clock | None = None) -> int:
    """Print the latest session's state and what to type next."""
    settings = load({}, environ)
    names = list_sessions(settings.sessions_dir)
    page = Page.out(environ)
    if not names:
        page.line("No session yet.")
        for command in _first_steps(settings):
            page.line(f"next  {command}", Tone.HEAD)
        return ExitCode.DONE
    seen = read_row(settings.sessions_dir / names[-1])
    now = (clock or SystemClock()).now()
    for line in _lines(seen, now, environ.get("HOME", "")):
        page.line(one_line(line, 400))
    if len(names) > 1:
        page.line(f"{figures.counted(len(names) - 1, 'older session')}: tilth info", Tone.QUIET)
    page.line(f"next  {_next(open_to_look(settings, names[-1]), seen)}", Tone.HEAD)
    return ExitCode.DONE


def _first_steps(settings: Settings) -> Iterator[str]:
    yield "tilth demo                      # watch a small run: no key, no network"
    if settings.endpoint(Role.WORKER) is None:
        if not settings.env_file.exists():
            yield "tilth init                      # write a .env, then set key and model in it"
        else:
            yield f"set TILTH_API_KEY and TILTH_WORKER_MODEL in {settings.env_file}"
    yield "tilth prep-feature PATH/TO/REPO # plan a feature, then: tilth run PATH/TO/REPO"


def _lines(seen: SessionRow, now: datetime, home: str) -> Iterator[str]:
    if seen.fault:
        yield f"{seen.session} is broken: {seen.fault}"
        return
    done = f"{seen.done} of {figures.counted(seen.total, 'task')} done"
    below = f"{len(seen.below_bar)} below the bar" if seen.below_bar else ""
    failed = f"failed: {', '.join(seen.failed)}" if seen.failed else ""
    yield figures.joined((f"{seen.session} is {seen.status}", done, below, failed))
    feature = seen.feature or ""
    began = f"{age(seen.created, now)} ago"
    yield figures.joined((feature, homely(seen.source, home), f"cost {cost(seen)}", began))


def _next(session: Session, seen: SessionRow) -> str:
    asked = _open_requests(session, seen.done_tasks)
    return next_commands(seen, open_requests=asked, last_stop=last_stop(session.log_path))[0]


def _open_requests(session: Session, done: tuple[str, ...]) -> list[str]:
    try:
        return [request.request for request in still_open(session.requests(), done)]
    except CorruptSession:
        # `tilth info` names what is wrong; this is only a pointer to it.
        return []

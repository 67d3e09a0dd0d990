"""Bare `tilth`: where things stand, and the next useful command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from tilth.base.clock import Clock, SystemClock
from tilth.base.errors import CorruptSession
from tilth.base.safe_text import folded, inert, one_line
from tilth.config.settings import Settings, load
from tilth.contract.operator_requests import still_open
from tilth.contract.outcomes import ExitCode
from tilth.log.reader import last_stop
from tilth.model.messages import Role
from tilth.session.catalog import list_sessions, open_to_look
from tilth.session.here import Here
from tilth.session.session import Session, SessionStatus
from tilth.session.shown_mask import Masks
from tilth.show import figures
from tilth.show.next_commands import next_commands
from tilth.show.note import Tone
from tilth.show.program import say_where_it_is
from tilth.show.report_view import view_report
from tilth.show.session_list import cost, homely
from tilth.show.session_row import SessionRow, read_row
from tilth.show.session_view import read_state
from tilth.show.tables import Page
from tilth.show.times import age

_SHOWN = 3
_NOT_ENDED = (SessionStatus.RUNNING, SessionStatus.INTERVIEWING, SessionStatus.PREPARED)


def welcome(*, environ: Mapping[str, str] = os.environ, clock: Clock | None = None) -> int:
    """Print the latest session's state and what to type next."""
    settings = load({}, environ)
    names, here = list_sessions(settings.sessions_dir), Here.find()
    own = [each for each in names if here is None or here.has(settings.sessions_dir, each)]
    elsewhere = [each for each in names if each not in own]
    masks = Masks(settings, environ)
    if not own:
        page = Page.out(environ, masks.of_settings())
        page.line(f"No session of {here.root} yet." if here and names else "No session yet.")
        _say_elsewhere(page, settings, elsewhere, environ.get("HOME", ""))
        for command in _first_steps(settings):
            page.line(f"next  {command}", Tone.HEAD)
        return ExitCode.DONE
    session = masks.put_on(open_to_look(settings, "latest"))
    page = Page.out(environ, session.mask)
    seen = read_row(session.directory)
    now = (clock or SystemClock()).now()
    for line in _lines(session, seen, now, environ.get("HOME", "")):
        page.line(one_line(session.mask.known(line), 400))
    for text, tone in _report_head(session, seen):
        page.line(text, tone)
    if len(own) > 1:
        page.line(f"{figures.counted(len(own) - 1, 'other session')}: tilth info", Tone.QUIET)
    _say_elsewhere(page, settings, elsewhere, environ.get("HOME", ""))
    page.line(f"next  {_next(session, seen)}", Tone.HEAD)
    say_where_it_is()
    return ExitCode.DONE


def _say_elsewhere(page: Page, settings: Settings, names: Sequence[str], home: str) -> None:
    """Name the sessions of other repositories, the newest first: each is meant by its id alone."""
    rows = [read_row(settings.sessions_dir / name) for name in reversed(names)]
    for row in rows[:_SHOWN]:
        where = one_line(homely(row.source, home))
        page.line(figures.joined((f"elsewhere: {row.session} is {row.status}", where)), Tone.QUIET)
    if len(rows) > _SHOWN:
        page.line(f"{len(rows) - _SHOWN} more elsewhere: tilth info", Tone.QUIET)


def _report_head(session: Session, seen: SessionRow) -> Iterator[tuple[str, Tone]]:
    """Say why a session at rest ended, what to look at first, and what waits for an answer."""
    if seen.fault or seen.status in _NOT_ENDED:
        return
    try:
        report = view_report(session).report
    except CorruptSession:
        return
    if report.ended is not None:
        # Uncut: an error names its cure last.
        yield f"stopped: {report.ended.why}; {folded(inert(report.ended.detail))}", Tone.PLAIN
    for cause in report.causes:
        yield f"cause    {one_line(cause.text, 400)}", Tone.BAD
    for number, task_id in enumerate(report.look_first[:_SHOWN]):
        task = report.task(task_id)
        why = "; ".join(reason.text.rstrip(".") for reason in task.reasons)
        label = "" if number else "look at"
        said = one_line(f"{task_id} {task.title}: {why}", 400)
        yield f"{label:<8} {said}", Tone.WARN
    more = len(report.look_first) - _SHOWN
    if report.look_first:
        rest = f"{more} more, and the evidence" if more > 0 else "the evidence"
        yield f"         {rest}: tilth report {session.id}", Tone.QUIET
    for asked in report.questions:
        about = f" ({asked.task_id})" if asked.task_id else ""
        yield f"asked    {asked.request}{about}: {asked.text}", Tone.LOUD
        yield f"         {asked.command}", Tone.HEAD


def _first_steps(settings: Settings) -> Iterator[str]:
    yield "tilth demo                      # watch a small run: no key, no network"
    if settings.endpoint(Role.WORKER) is None:
        if not settings.env_file.exists():
            yield "tilth init                      # write a .env, then set key and model in it"
        else:
            yield f"set TILTH_API_KEY and TILTH_WORKER_MODEL in {settings.env_file}"
    yield "tilth prep-feature PATH/TO/REPO # plan a feature, then: tilth run PATH/TO/REPO"


def _lines(session: Session, seen: SessionRow, now: datetime, home: str) -> Iterator[str]:
    if seen.fault:
        yield f"{seen.session} is broken: {seen.fault}"
        return
    done = f"{seen.done} of {figures.counted(seen.total, 'task')} done"
    below = f"{len(seen.below_bar)} below the bar" if seen.below_bar else ""
    failed = f"failed: {', '.join(seen.failed)}" if seen.failed else ""
    yield figures.joined((f"{seen.session} is {seen.status}", done, below, failed))
    feature = seen.feature or ""
    began = f"{age(seen.created, now)} ago"
    spent = f"cost {_cost(session, seen)}"
    yield figures.joined((feature, homely(seen.source, home), spent, began))


def _cost(session: Session, seen: SessionRow) -> str:
    """Write what a session has cost; while it runs that stands in its log alone."""
    if seen.cost_final:
        return cost(seen)
    try:
        return f"{figures.cost(read_state(session).spent)} so far"
    except CorruptSession:
        return cost(seen)


def _next(session: Session, seen: SessionRow) -> str:
    asked = _open_requests(session, seen.done_tasks)
    return next_commands(seen, open_requests=asked, last_stop=last_stop(session.log_path))[0]


def _open_requests(session: Session, done: tuple[str, ...]) -> list[str]:
    try:
        return [request.request for request in still_open(session.requests(), done)]
    except CorruptSession:
        # `tilth info` names what is wrong; this is only a pointer to it.
        return []

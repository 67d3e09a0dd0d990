"""The library: every question the page asks about sessions, answered from their files.

It keeps the few books that were opened last. Nothing here knows of HTTP, and nothing writes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType
from typing import Any

from tilth.base.errors import UnknownSession, UserError
from tilth.base.hidden_characters import in_plain_sight
from tilth.config.settings import Settings
from tilth.log.events import Event
from tilth.session.catalog import list_sessions, open_to_look
from tilth.session.session import Session, SessionStatus
from tilth.session.shown_mask import Masks
from tilth.show.report import Report
from tilth.show.report_view import view_report
from tilth.show.session_row import read_row
from tilth.show.session_view import plan_of
from tilth.show.task_view import diff_of
from tilth.show.viewer import overview as first_page
from tilth.show.viewer import task as task_page
from tilth.show.viewer.book import Book, Filter
from tilth.show.viewer.rows import body, row
from tilth.show.viewer.search import Search

MOST_ROWS = 500
_OPEN_BOOKS = 4
_LISTED = 200


class Missing(UserError):
    """Say that what is asked for does not exist."""


@dataclass
class _Opened:
    """Hold one session's book and what was last made from it."""

    book: Book
    search: Search
    report: Report | None = None
    report_key: object = None


def _runs(session: Session) -> bool:
    return read_row(session.directory).status == SessionStatus.RUNNING


def _as_it_is(event: Event) -> Event:
    return event


def _piece(seqs: Sequence[int], offset: int, limit: int) -> Sequence[int]:
    return seqs[max(0, offset) : max(0, offset) + min(limit, MOST_ROWS)]


class Library:
    """Answer for all sessions below one directory; `first` is the one that is shown first.

    What `alter` makes of an event is what is shown of it.
    """

    def __init__(
        self,
        settings: Settings,
        first: str,
        alter: Callable[[Event], Event] | None = None,
        environ: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._settings = settings
        self._masks = Masks(settings, environ)
        self._first = first
        self._alter = alter or _as_it_is
        self._opened: OrderedDict[str, _Opened] = OrderedDict()
        self._lock = Lock()

    def masked(self, session: str, said: Any) -> Any:
        """Hide every key that is known in what is shown of a session."""
        try:
            mask = self._find(session).mask
        except UnknownSession:
            # The list of sessions names none, and outlives the one that was shown first.
            if session:
                raise
            mask = self._masks.of_settings()
        return mask.data(said)

    def sessions(self) -> list[dict[str, Any]]:
        """List the sessions there are, newest first."""
        directory = self._settings.sessions_dir
        names = list_sessions(directory)[::-1][:_LISTED]
        rows = (read_row(directory / name) for name in names)
        return [{"id": each.session, "status": each.status} for each in rows]

    def standing(self, session: str) -> dict[str, Any]:
        """Say how far a session's log goes and whether anybody works on it."""
        found, opened = self._open(session)
        return {"last_seq": opened.book.refresh(), "status": read_row(found.directory).status}

    def overview(self, session: str) -> dict[str, Any]:
        """Give the first page of a session."""
        found, opened = self._open(session)
        book = opened.book
        with book.lock:
            book.refresh()
            report, state = self._report(found, opened), book.state
            standing = read_row(found.directory)
            return first_page.overview(found, standing, report, state, book.timeline)

    def task(self, session: str, task_id: str) -> dict[str, Any]:
        """Give the page of one task."""
        found, opened = self._open(session)
        book = opened.book
        with book.lock:
            book.refresh()
            report, state = self._report(found, opened), book.state
            planned = plan_of(found).task(task_id)
            if planned is None:
                raise Missing(f"session {found.id} has no task {task_id!r}")
            known, diff = report.task(task_id), diff_of(found, planned, state.task(task_id))
            steps = self._events(book, book.of_types(task_page.ROUND_TYPES, task_id))
            return {
                **first_page.task_head(known, state, _runs(found)),
                "description": planned.description,
                "commit": known.landed.commit if known.landed else planned.commit,
                "seed_tests": list(known.seed_tests),
                "criteria": task_page.criteria(planned, known),
                "objected": known.objected,
                "rounds": task_page.rounds(steps),
                "talk": len(book.of_types(task_page.TALK_TYPES, task_id)),
                "diff": in_plain_sight(found.mask.known(diff.text or "")),
                "diff_about": diff.about,
            }

    def rows(self, session: str, wanted: Filter, offset: int, limit: int) -> dict[str, Any]:
        """Give one page of the event list."""
        _, opened = self._open(session)
        opened.book.refresh()
        seqs = opened.search.find(wanted)
        listed = [row(event) for event in self._events(opened.book, _piece(seqs, offset, limit))]
        return {"total": len(seqs), "offset": offset, "rows": listed}

    def event(self, session: str, seq: int) -> dict[str, Any]:
        """Give one event whole."""
        found, opened = self._open(session)
        if not 1 <= seq <= opened.book.refresh():
            raise Missing(f"session {found.id} has no event {seq}")
        return body(next(self._events(opened.book, (seq,))))

    def conversation(self, session: str, task_id: str, offset: int, limit: int) -> dict[str, Any]:
        """Give a piece of what was said in a task's conversations."""
        _, opened = self._open(session)
        opened.book.refresh()
        seqs = opened.book.of_types(task_page.TALK_TYPES, task_id)
        chosen = self._events(opened.book, _piece(seqs, offset, limit))
        entries = [task_page.talk(event) for event in chosen]
        return {"total": len(seqs), "entries": entries}

    def whole(self, session: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Give every event of a session, as a row and whole."""
        _, opened = self._open(session)
        opened.book.refresh()
        for event in self._events(opened.book, opened.book.seqs()):
            yield row(event), body(event)

    def talk(self, session: str, task_id: str) -> list[dict[str, Any]]:
        """Say who spoke when in a task's conversations, without the texts."""
        _, opened = self._open(session)
        seqs = opened.book.of_types(task_page.TALK_TYPES, task_id)
        return [task_page.talk_head(event) for event in self._events(opened.book, seqs)]

    def _events(self, book: Book, seqs: Sequence[int]) -> Iterator[Event]:
        return map(self._alter, book.events(seqs))

    def _open(self, session: str) -> tuple[Session, _Opened]:
        """Open a session anew, for its small files change, and its book once."""
        found = self._find(session)
        with self._lock:
            opened = self._opened.pop(found.id, None)
            if opened is None:
                book = Book(found.log_path)
                opened = _Opened(book, Search(book))
            self._opened[found.id] = opened
            while len(self._opened) > _OPEN_BOOKS:
                self._opened.popitem(last=False)
        return found, opened

    def _find(self, session: str) -> Session:
        return self._masks.put_on(open_to_look(self._settings, session or self._first))

    def _report(self, session: Session, opened: _Opened) -> Report:
        # It asks git about every commit: only where something may have changed.
        key = opened.book.turns, read_row(session.directory)
        if opened.report is None or opened.report_key != key:
            opened.report = view_report(session, opened.book.state).report
            opened.report_key = key
        return opened.report

"""The catalog: which sessions there are, which could go on, and which one a command means.

It needs no key, takes no lock and changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from tilth.base.errors import CorruptSession, UnknownSession
from tilth.config.settings import Settings, load
from tilth.git.source import SourceRepo
from tilth.log.events import SessionStart
from tilth.session.here import Here
from tilth.session.session import SESSION_ID, Session, SessionStatus
from tilth.session.store import last_active, lock_holder

LATEST = "latest"
_RESUMABLE = frozenset(
    {
        SessionStatus.RUNNING,
        SessionStatus.STOPPED,
        SessionStatus.FAILED,
        SessionStatus.WAITING,
    }
)


def list_sessions(sessions: Path) -> tuple[str, ...]:
    """Give the ids of all sessions, oldest first."""
    try:
        names: Iterable[str] = os.listdir(sessions)
    except OSError:
        return ()
    return tuple(sorted(name for name in names if SESSION_ID.fullmatch(name)))


def find_session(sessions: Path, wanted: str) -> str:
    """Turn an id, a unique prefix or `latest` into a full id.

    Inside a git repository `latest` is the latest of that repository's sessions.
    """
    known = list_sessions(sessions)
    if wanted == LATEST:
        return _latest(sessions, known)
    if wanted in known:
        return wanted
    matches = [name for name in known if wanted and name.startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = ", ".join(matches[:3]) + (" …" if len(matches) > 3 else "")
        raise UnknownSession(f"{wanted!r} could be {len(matches)} sessions ({shown}); give more")
    raise UnknownSession(f"no session starts with {wanted!r} in {sessions}; see `tilth info`")


def _latest(sessions: Path, known: Sequence[str]) -> str:
    here = Here.find()
    own = [name for name in known if here is None or here.has(sessions, name)]
    if own:
        return max(own, key=lambda name: (*last_active(sessions / name), name))
    if here is None or not known:
        raise UnknownSession(f"there is no session in {sessions} yet; start with `tilth run`")
    raise UnknownSession(f"{here.root} has no session yet; start with `tilth run`, or {_by_id()}")


def _by_id() -> str:
    return "name one of another repository by its id (see `tilth info`)"


def find(wanted: str, environ: Mapping[str, str]) -> Session:
    """Open the session an id, a unique prefix or `latest` names, for reading only."""
    return open_to_look(load({}, environ), wanted)


def open_to_look(settings: Settings, wanted: str) -> Session:
    """Open a session of these settings for reading only."""
    return _look(settings, find_session(settings.sessions_dir, wanted))


def readable_sessions(settings: Settings) -> Iterator[Session]:
    """Give every session whose checkpoint can be read, newest first."""
    for name in reversed(list_sessions(settings.sessions_dir)):
        session = _look(settings, name)
        try:
            _ = session.checkpoint
        except CorruptSession:
            continue
        yield session


def sessions_of(
    settings: Settings, source: SourceRepo, *wanted: SessionStatus
) -> tuple[Session, ...]:
    """Give the sessions of a repository in one of these states, newest first."""
    return tuple(
        session
        for session in readable_sessions(settings)
        if session.checkpoint.status in wanted and session.checkpoint.source == str(source.root)
    )


def resumable_sessions(settings: Settings) -> tuple[Session, ...]:
    """Give the sessions that could go on now, newest first; broken ones are passed over."""
    return tuple(session for session in readable_sessions(settings) if _can_resume(session))


def latest_to_resume(settings: Settings) -> str:
    """Choose the session last active that can go on; else an interview, else one that is done.

    Inside a git repository only that repository's sessions count.
    """
    here, place = Here.find(), settings.sessions_dir
    sessions = [each for each in readable_sessions(settings) if here is None or here.is_of(each)]
    kinds: tuple[Callable[[Session], bool], ...] = (
        _can_resume,
        *(
            partial(_rests_as, status)
            for status in (SessionStatus.INTERVIEWING, SessionStatus.DONE)
        ),
    )
    for is_wanted in kinds:
        found = [session for session in sessions if is_wanted(session)]
        if found:
            return max(found, key=lambda each: (*last_active(each.directory), each.id)).id
    if here is None:
        raise UnknownSession(f"no session in {place} can be resumed; see `tilth info`")
    raise UnknownSession(f"no session of {here.root} can be resumed; {_by_id()}")


def _rests_as(status: SessionStatus, session: Session) -> bool:
    return session.checkpoint.status is status and holder_of(session) is None


def holder_of(session: Session) -> str | None:
    """Give the pid of the process that holds a session's lock, if one does."""
    return lock_holder(session.directory / "lock")


def _can_resume(session: Session) -> bool:
    if session.checkpoint.status not in _RESUMABLE:
        return False
    gave_up = session.checkpoint.status is SessionStatus.FAILED
    if gave_up and session.checkpoint.prd is None and not _has_begun(session):
        # Given up before it ran: starting it is no resume.
        return False
    return holder_of(session) is None


def _has_begun(session: Session) -> bool:
    try:
        return any(isinstance(event.payload, SessionStart) for event in session.events())
    except CorruptSession:
        return False


def _look(settings: Settings, name: str) -> Session:
    return Session.look(settings.sessions_dir, name)

"""Seeds that stand already: which sessions of a repository are prepared or still an interview."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from tilth.cli.edge import tell
from tilth.cli.picking import can_ask, pick
from tilth.clock import SystemClock
from tilth.errors import CorruptSession, UserError
from tilth.mask import Mask
from tilth.repository.repo import SourceRepo
from tilth.session import Session, SessionStatus, list_sessions
from tilth.settings import Settings

_BEFORE_A_RUN = (SessionStatus.INTERVIEWING, SessionStatus.PREPARED)


@dataclass(frozen=True)
class Choice:
    """Say what becomes of a wish for a new seed: another, an old one taken up, or none."""

    go_on: str | None = None
    replaced: tuple[str, ...] = ()
    leave: bool = False


def standing(settings: Settings, source: SourceRepo, *wanted: SessionStatus) -> tuple[Session, ...]:
    """Give the sessions of a repository in one of these states, newest first."""
    found = []
    for name in reversed(list_sessions(settings.sessions_dir)):
        # Only looked at: what is on disk was masked when it was written.
        session = Session.look(settings.sessions_dir, name, clock=SystemClock(), mask=Mask())
        try:
            checkpoint = session.checkpoint
        except CorruptSession:
            continue
        if checkpoint.status in wanted and checkpoint.source == str(source.root):
            found.append(session)
    return tuple(found)


def prepared_session(settings: Settings, source: SourceRepo) -> str | None:
    """Give the one prepared session of a repository, None without any; of several, ask."""
    sessions = standing(settings, source, SessionStatus.PREPARED)
    if len(sessions) <= 1:
        return sessions[0].id if sessions else None
    said = f"{source.root} has {len(sessions)} prepared sessions"
    if not can_ask():
        commands = ", ".join(f"`tilth resume {session.id}`" for session in sessions)
        raise UserError(f"{said}: run one of them with {commands}")
    chosen = pick(f"{said}. Which one is to run?", [_described(session) for session in sessions])
    return sessions[chosen].id


def no_prepared_session(settings: Settings, source: SourceRepo) -> UserError:
    """Say what to do about a repository that has nothing to run."""
    interviews = standing(settings, source, SessionStatus.INTERVIEWING)
    if interviews:
        return UserError(
            f"{source.root} has no prepared session, but interview {interviews[0].id} is not "
            f"finished: go on with `tilth prep-feature {_quoted(source)}`"
        )
    return UserError(
        f"{source.root} has no prepared session and no prd.json: prepare one with "
        f"`tilth prep-feature {_quoted(source)}`, or name a PRD (see docs/prd.md)"
    )


def choose(settings: Settings, source: SourceRepo, *, force: bool, keep: bool) -> Choice:
    """Settle what becomes of earlier seeds of this repository."""
    sessions = standing(settings, source, *_BEFORE_A_RUN)
    if not sessions or keep:
        return Choice()
    names = tuple(session.id for session in sessions)
    if force:
        return Choice(replaced=names)
    if not can_ask():
        raise UserError(_refusal(sessions, source))
    return _picked(sessions, names)


def give_up(settings: Settings, names: Iterable[str]) -> None:
    """Mark earlier seeds as given up; they stay on disk until they are reset."""
    for name in names:
        session = Session.wake(settings.sessions_dir, name, clock=SystemClock(), mask=Mask())
        try:
            session.save_checkpoint(SessionStatus.FAILED)
        finally:
            session.release()
        tell(f"session {name} is given up; `tilth reset {name}` removes it")


def _picked(sessions: tuple[Session, ...], names: tuple[str, ...]) -> Choice:
    interviews = [s for s in sessions if s.checkpoint.status is SessionStatus.INTERVIEWING]
    choices = [
        *((f"go on with {_described(s)}", Choice(go_on=s.id)) for s in interviews),
        ("start another beside what is there", Choice()),
        ("start another and give up what is there", Choice(replaced=names)),
        ("leave everything as it is", Choice(leave=True)),
    ]
    question = f"This repository has {_listed(sessions)}."
    return choices[pick(question, [said for said, _ in choices])][1]


def _refusal(sessions: tuple[Session, ...], source: SourceRepo) -> str:
    first = sessions[0]
    interviewing = first.checkpoint.status is SessionStatus.INTERVIEWING
    how = f"tilth resume {first.id}" if interviewing else f"tilth run {_quoted(source)}"
    verb = "go on with it" if interviewing else "run it"
    return (
        f"{source.root} has {_listed(sessions)}: {verb} by `{how}`, start another beside it with "
        "--keep-existing, or give it up with --force"
    )


def _listed(sessions: tuple[Session, ...]) -> str:
    return ", ".join(_described(session) for session in sessions)


def _quoted(source: SourceRepo) -> str:
    return shlex.quote(str(source.root))


def _described(session: Session) -> str:
    interviewing = session.checkpoint.status is SessionStatus.INTERVIEWING
    kind = "interrupted interview" if interviewing else "prepared session"
    return f"{kind} {session.id}"

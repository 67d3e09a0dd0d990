"""Earlier seeds of a repository: what a new interview does about prepared and interrupted ones."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from tilth.base.clock import SystemClock
from tilth.base.errors import CorruptSession, UserError
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.contract.operator_requests import OperatorRequest, RequestKind
from tilth.git.source import SourceRepo
from tilth.session.catalog import sessions_of
from tilth.session.frontend import Pick
from tilth.session.session import Session, SessionStatus
from tilth.show.notices import tell

_MOST_CONCERNS = 10
_BEFORE_A_RUN = (SessionStatus.INTERVIEWING, SessionStatus.PREPARED)


@dataclass(frozen=True)
class Choice:
    """Say what becomes of a wish for a new seed: another, an old one taken up, or none."""

    go_on: str | None = None
    replaced: tuple[str, ...] = ()
    leave: bool = False


def choose(
    settings: Settings, source: SourceRepo, pick: Pick | None, *, force: bool, keep: bool
) -> Choice:
    """Settle what becomes of earlier seeds of this repository."""
    sessions = sessions_of(settings, source, *_BEFORE_A_RUN)
    if not sessions or keep:
        return Choice()
    names = tuple(session.id for session in sessions)
    if force:
        return Choice(replaced=names)
    if pick is None:
        raise UserError(_refusal(sessions, source))
    return _picked(sessions, names, pick)


def give_up(settings: Settings, names: Iterable[str]) -> None:
    """Mark earlier seeds as given up; they stay on disk until they are reset."""
    for name in names:
        session = Session.open_locked(settings.sessions_dir, name, clock=SystemClock(), mask=Mask())
        try:
            session.save_checkpoint(SessionStatus.FAILED)
        finally:
            session.release()
        tell(f"session {name} is given up; `tilth reset {name}` removes it")


def _picked(sessions: tuple[Session, ...], names: tuple[str, ...], pick: Pick) -> Choice:
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
    where = shlex.quote(str(source.root))
    how = f"tilth resume {first.id}" if interviewing else f"tilth run {where}"
    verb = "go on with it" if interviewing else "run it"
    return (
        f"{source.root} has {_listed(sessions)}: {verb} by `{how}`, start another beside it with "
        "--keep-existing, or give it up with --force"
    )


def _listed(sessions: tuple[Session, ...]) -> str:
    return ", ".join(_described(session) for session in sessions)


def _described(session: Session) -> str:
    interviewing = session.checkpoint.status is SessionStatus.INTERVIEWING
    kind = "interrupted interview" if interviewing else "prepared session"
    return f"{kind} {session.id}"


def seed_concerns(settings: Settings, source: SourceRepo) -> tuple[str, ...]:
    """Give what evaluators said of weak acceptance tests in earlier sessions here, newest first."""
    found = [
        line.text
        for session in sessions_of(settings, source, *SessionStatus)
        for line in reversed(_requests(session))
        if line.kind is RequestKind.SEED_CONCERN
    ]
    return tuple(dict.fromkeys(found))[:_MOST_CONCERNS]


def _requests(session: Session) -> tuple[OperatorRequest, ...]:
    try:
        return session.requests()
    except CorruptSession:
        # It is reported where that session is looked at; here it only has nothing to say.
        return ()

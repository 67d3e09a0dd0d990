"""`tilth resume`: from a session on disk to one that runs again."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from tilth.bench import Bench
from tilth.cli.edge import tell
from tilth.cli.workbench import Workshop, open_workshop, seat_reviewers
from tilth.clock import SystemClock
from tilth.errors import CorruptSession, UnknownSession
from tilth.footing import Footing, stand_up
from tilth.loop import run
from tilth.mask import Mask
from tilth.messages import Role
from tilth.outcomes import ExitCode, StopReason
from tilth.project import ProjectFacts, read_project
from tilth.recall.memory import Memory, remember
from tilth.repository import trees
from tilth.repository.repo import SourceRepo, open_source
from tilth.resume import wake
from tilth.session import Session, SessionStatus, find_session, list_sessions
from tilth.settings import Settings, known_secrets, load
from tilth.store import lock_holder
from tilth.workspace import Workspace

RESUMABLE = frozenset(
    {
        SessionStatus.RUNNING,
        SessionStatus.STOPPED,
        SessionStatus.FAILED,
        SessionStatus.WAITING,
    }
)


def resume(
    wanted: str | None,
    flags: Mapping[str, object],
    *,
    fresh: bool,
    environ: MutableMapping[str, str] = os.environ,
) -> int:
    """Wake a session from disk alone and let it go on."""
    settings = load(flags, environ)
    name = find_session(settings.sessions_dir, wanted) if wanted else _latest(settings)
    session = Session.wake(
        settings.sessions_dir, name, clock=SystemClock(), mask=Mask(known_secrets(settings))
    )
    try:
        return _go_on(settings, session, environ, fresh=fresh)
    finally:
        session.release()


def _go_on(
    settings: Settings, session: Session, environ: MutableMapping[str, str], *, fresh: bool
) -> int:
    memory = remember(session.events())
    _mend_checkpoint(session, memory)
    if session.checkpoint.status is SessionStatus.INTERVIEWING:
        from tilth.cli.preparing import Wishes, go_on

        return go_on(settings, session, Wishes(), environ=environ)
    if session.plan.all_done and memory.last_stop == StopReason.ALL_DONE:
        tell(f"session {session.id} is all done; see `tilth info {session.id}`")
        session.save_checkpoint(SessionStatus.DONE, memory.meter().by_role)
        return ExitCode.DONE
    settings.require_endpoint(Role.WORKER)
    if settings.evaluate:
        settings.require_endpoint(Role.EVALUATOR)
    source = open_source(Path(session.checkpoint.source))
    facts = read_facts(source, session.checkpoint.base_commit)
    panel = seat_reviewers(settings, session.plan, environ)
    with open_workshop(settings.under(facts), source, facts, panel) as shop:
        return continue_session(shop, session, memory, fresh=fresh)


def continue_session(
    shop: Workshop, session: Session, memory: Memory, *, fresh: bool = False
) -> int:
    """Put a session on its feet and run it, for the first time or again."""
    workspace = Workspace(shop.source, session.workspace, session.id, SystemClock())
    with shop.bench(session, workspace, memory) as bench:
        footing = shop.footing(session, workspace, memory)
        if session.checkpoint.status is SessionStatus.PREPARED:
            return run(bench, lambda: first_steps(bench, footing)).exit_code
        return run(bench, lambda: wake(bench, footing, fresh=fresh)).exit_code


def first_steps(bench: Bench, footing: Footing) -> None:
    """Stand up for the first time; no task is in the middle of its work."""
    footing.session.save_checkpoint(SessionStatus.RUNNING)
    stand_up(footing, bench.emit)


def _mend_checkpoint(session: Session, memory: Memory) -> None:
    """The log is the truth: a checkpoint that cannot be read is written anew from it."""
    try:
        _ = session.checkpoint
    except CorruptSession:
        if memory.start is None:
            raise
        session.rebuild_checkpoint(memory.start, memory.started_at)
        tell("the checkpoint could not be read; it was rebuilt from the log")


def resumable_sessions(settings: Settings) -> tuple[Session, ...]:
    """Give the sessions that could go on now, newest first; broken ones are passed over."""
    found = []
    for name in reversed(list_sessions(settings.sessions_dir)):
        session = Session.look(
            settings.sessions_dir, name, clock=SystemClock(), mask=Mask(known_secrets(settings))
        )
        try:
            if _can_resume(session):
                found.append(session)
        except CorruptSession:
            continue
    return tuple(found)


def _can_resume(session: Session) -> bool:
    if session.checkpoint.status not in RESUMABLE:
        return False
    is_seed = session.checkpoint.prd is None and not _has_begun(session)
    if is_seed and session.checkpoint.status is SessionStatus.FAILED:
        # Given up: it never ran, and starting it is no resume.
        return False
    return lock_holder(session.directory / "lock") is None


def read_facts(source: SourceRepo, base: str) -> ProjectFacts:
    """Read what the repository says about itself, from the commit the session began from."""
    return read_project(trees.read(source, base, "pyproject.toml"))


def _has_begun(session: Session) -> bool:
    return any(line["type"] == "session_start" for line in session.events())


def _latest(settings: Settings) -> str:
    """Choose the newest session that can go on; else an open interview, else one that is done."""
    sessions = resumable_sessions(settings)
    if sessions:
        return sessions[0].id
    for status in (SessionStatus.INTERVIEWING, SessionStatus.DONE):
        name = _newest(settings, status)
        if name is not None:
            return name
    raise UnknownSession(f"no session in {settings.sessions_dir} can be resumed; see `tilth info`")


def _newest(settings: Settings, status: SessionStatus) -> str | None:
    for name in reversed(list_sessions(settings.sessions_dir)):
        session = Session.look(settings.sessions_dir, name, clock=SystemClock(), mask=Mask())
        try:
            is_wanted = session.checkpoint.status is status
        except CorruptSession:
            continue
        if is_wanted and lock_holder(session.directory / "lock") is None:
            return name
    return None

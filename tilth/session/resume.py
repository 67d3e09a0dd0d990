"""Resuming: from a session on disk to one that runs again. What `tilth resume` does."""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from functools import partial
from pathlib import Path

from tilth.base.clock import Clock, SystemClock
from tilth.base.errors import CorruptSession
from tilth.config.secrets import Mask
from tilth.config.settings import Settings, known_secrets, load
from tilth.contract.outcomes import ExitCode, StopReason
from tilth.git.merging import require_merging
from tilth.git.source import open_source
from tilth.log.state import SessionState, fold
from tilth.model.provider import load_early
from tilth.session.at_rest import take_up_leftovers
from tilth.session.catalog import find_session, latest_to_resume
from tilth.session.fence import Guard
from tilth.session.files import read_tests
from tilth.session.frontend import Frontend
from tilth.session.lost_log import require_start
from tilth.session.models import choose_reviewers, require_endpoints
from tilth.session.night import Schedule
from tilth.session.parts import open_parts, read_facts
from tilth.session.readiness import Preflight, look_ahead
from tilth.session.run import RunResult, result_of, run_session
from tilth.session.session import Session, SessionStatus


def resume(
    wanted: str | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    fresh: bool = False,
    until: str | None = None,
    ping: bool = False,
    spend_leftovers: bool = False,
    preflight: Preflight | None = None,
    environ: MutableMapping[str, str] = os.environ,
    frontend: Frontend | None = None,
    clock: Clock | None = None,
    guard: Guard | None = None,
) -> RunResult:
    """Open a session from disk alone and let it go on; without `wanted`, the latest that can.

    With `ping`, the models of a session that has not begun yet are tried first. `guard` is of a run
    that may be taken over by another.
    """
    schedule = Schedule.read(until, clock, spend_leftovers=spend_leftovers)
    settings = load(overrides or {}, environ)
    name = find_session(settings.sessions_dir, wanted) if wanted else latest_to_resume(settings)
    mask = Mask(known_secrets(settings))
    session = Session.open_locked(
        settings.sessions_dir, name, clock=SystemClock(), mask=mask, guard=guard
    )
    try:
        frontend = frontend or Frontend()
        begun = partial(_go_on, settings, session, environ, frontend, schedule)
        return begun(fresh=fresh, ping=ping, preflight=preflight)
    finally:
        session.release()


def _go_on(
    settings: Settings,
    session: Session,
    environ: MutableMapping[str, str],
    frontend: Frontend,
    schedule: Schedule,
    *,
    fresh: bool,
    ping: bool,
    preflight: Preflight | None,
) -> RunResult:
    memory = fold(session.events(), conversations=True)
    _mend_checkpoint(session, memory, frontend)
    frontend.tell(f"session {session.id} of {session.checkpoint.source}")
    require_start(session, memory)
    if take_up_leftovers(session, memory, Mask(known_secrets(settings))):
        memory = fold(session.events(), conversations=True)
    if session.checkpoint.status is SessionStatus.INTERVIEWING:
        from tilth.interview.prepare import PrepareOptions, go_on

        return result_of(session, go_on(settings, session, PrepareOptions(), environ=environ))
    if session.plan.all_done and _is_over(session, memory):
        frontend.tell(f"session {session.id} is all done; see `tilth info {session.id}`")
        session.save_checkpoint(SessionStatus.DONE, memory.spend)
        below = any(task.quality_flag for task in session.plan.tasks)
        return result_of(session, ExitCode.BELOW_BAR if below else ExitCode.DONE)
    require_endpoints(settings)
    if settings.jobs > 1 or memory.laned:
        require_merging()
    load_early()
    source = open_source(Path(session.checkpoint.source))
    facts = read_facts(source, session.checkpoint.base_commit)
    second = schedule.spend_leftovers or memory.spends_leftovers
    panel = choose_reviewers(settings, session.plan, environ, frontend, second_opinions=second)
    resumed = session.checkpoint.status is not SessionStatus.PREPARED
    settings = settings.under(facts)
    with open_parts(settings, source, facts, frontend, panel=panel, schedule=schedule) as parts:
        proven = None
        if not resumed:
            asked = parts, session.plan, read_tests(session.seed_tests), session.start_commit
            proven = look_ahead(*asked, pings=ping, preflight=preflight)
        ending = run_session(parts, session, memory, resumed=resumed, fresh=fresh, preflight=proven)
        return result_of(session, ending.exit_code, ending)


def _is_over(session: Session, memory: SessionState) -> bool:
    """Tell whether nothing is left to do: it ended so, or a person accepted what was open."""
    if any(task.rescued for task in memory.tasks.values()):
        # A kill came between the landing of what was accepted and its last record.
        return False
    ended = memory.last_stop == StopReason.ALL_DONE
    return ended or session.checkpoint.status is SessionStatus.DONE


def _mend_checkpoint(session: Session, memory: SessionState, frontend: Frontend) -> None:
    """The log is the truth: a checkpoint that cannot be read is written anew from it."""
    try:
        _ = session.checkpoint
    except CorruptSession as error:
        if memory.start is None:
            # Nothing to write it anew from.
            raise CorruptSession(error.problem) from None
        session.rebuild_checkpoint(memory.start, memory.started or "")
        frontend.tell("the checkpoint could not be read; it was rebuilt from the log")

"""The run: the one path of a first start, a resume and a replay, from a session to its ending.

They differ in the state they start from: what the log says, and whether somebody asked to go on.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tilth import __version__
from tilth.config.settings import VARIABLES
from tilth.contract.outcomes import ExitCode, StopReason
from tilth.contract.prd import Task
from tilth.git.workspace import Workspace
from tilth.log.events import Preflighted, SessionStart
from tilth.log.state import SessionState
from tilth.loop import run as run_loop
from tilth.model.messages import Role
from tilth.model.reviewers import is_same_model
from tilth.session.at_rest import settle_inbox
from tilth.session.branch import commit_seed, make_worktree
from tilth.session.carry import Carry, carried_by, record_of, wish_of
from tilth.session.lane_recovery import Asked, recover_lanes
from tilth.session.lanes import SessionLanes
from tilth.session.parts import Parts
from tilth.session.project_setup import run_setup
from tilth.session.recovery import Found, recover
from tilth.session.session import Session, SessionStatus
from tilth.task.bench import RunContext
from tilth.task.ending import Ending
from tilth.task.lanes import Work


@dataclass(frozen=True)
class RunResult:
    """Say what a start or a resume came to; `reason` is None where nothing was left to do."""

    session: str
    directory: Path
    branch: str
    status: SessionStatus
    exit_code: ExitCode
    reason: StopReason | None = None
    detail: str = ""
    tasks: tuple[Task, ...] = ()


def result_of(session: Session, code: int, ending: Ending | None = None) -> RunResult:
    """Give a session's result as it stands on disk."""
    return RunResult(
        session=session.id,
        directory=session.directory,
        branch=session.checkpoint.branch,
        status=session.checkpoint.status,
        exit_code=ExitCode(code),
        reason=ending.reason if ending else None,
        detail=ending.detail if ending else "",
        tasks=session.plan.tasks if session.has_plan else (),
    )


def run_session(
    parts: Parts,
    session: Session,
    memory: SessionState,
    *,
    resumed: bool = False,
    fresh: Asked = False,
    clear: bool = True,
    preflight: Preflighted | None = None,
) -> Ending:
    """Make what is missing, mend what a crash left if this is a resume, and work on the plan.

    A session that was ever worked on with several jobs goes on as such, with one lane if need be.
    `clear` is false where what begins anew is to find the files as they stand.
    """
    session.hide(parts.mask)
    workspace = parts.workspace(session)
    laned = parts.settings.jobs > 1 or memory.laned
    with parts.open_run(session, memory) as context:
        emit = context.emit

        def open_bench() -> Work:
            if not resumed:
                session.save_checkpoint(SessionStatus.RUNNING)
            start = start_event(parts, session)
            lost = make_worktree(session, workspace, memory)
            if memory.start is None:
                emit(start)
            if memory.seed is None:
                commit_seed(session, workspace, emit)
            prepare_project(parts, context, session, workspace, memory, lost=lost)
            if preflight is not None:
                note_preflight(context, session, workspace, preflight)
            bench = parts.bench(context, session, workspace)
            found = Found(session, workspace, memory, start, worktree_lost=lost)
            if laned:
                lanes = SessionLanes(parts, bench, session, workspace)
                if resumed:
                    recover_lanes(lanes, found, fresh=fresh)
                return Work(lanes.bench, lanes=lanes)
            if not resumed:
                return Work(bench)
            return Work(bench, recover(bench, found, fresh=bool(fresh), clear=clear))

        ending = run_loop(context, open_bench)
    if parts.wrap_words is None:
        # What was said after the last look into the inbox and before the lock was free.
        settle_inbox(session.directory, parts.mask, session.guard)
    return ending


def prepare_project(
    parts: Parts,
    context: RunContext,
    session: Session,
    workspace: Workspace,
    memory: SessionState,
    *,
    lost: bool,
) -> None:
    """Run setup in the worktree, with the ignored files the session carries, and keep those."""
    source, base = parts.source, session.start_commit
    carry = Carry(session, memory, context.emit)
    wish = None if carry.is_settled else wish_of(parts.settings, parts.facts, source, base)
    carry.begin(source, wish, workspace.path, base)
    run_setup(parts, context, session, workspace, again=lost)
    carry.settle(source, wish, workspace.path, base)


def note_preflight(
    context: RunContext, session: Session, workspace: Workspace, found: Preflighted
) -> None:
    """Put on record what was proven before; its results hold if the very same was carried."""
    tip = workspace.tip() or session.start_commit
    is_same = record_of(carried_by(session)).sha256 == found.carried
    said: dict[str, object] = {} if is_same else {"baselines": {}, "suite_report": None}
    context.emit(found.model_copy(update={"tree": workspace.tree_of(tip), **said}))


def start_event(parts: Parts, session: Session) -> SessionStart:
    """Say with what a session sets out."""
    settings, plan = parts.settings, session.plan
    worker = settings.require_endpoint(Role.WORKER)
    evaluator = settings.endpoint(Role.EVALUATOR) if settings.evaluate else None
    # A project with validators of its own has its own tests behind every task.
    has_own = parts.facts.replace_defaults
    return SessionStart(
        tilth_version=__version__,
        source=str(parts.source.root),
        branch=session.checkpoint.branch,
        base_commit=session.checkpoint.base_commit,
        base_branch=session.checkpoint.base_branch,
        feature=plan.feature,
        tasks=len(plan.tasks),
        worker_model=worker.model,
        evaluator_model=evaluator.model if evaluator else None,
        same_model=evaluator is not None and is_same_model(evaluator, worker),
        evaluate=settings.evaluate,
        sandbox=parts.confinement.name,
        settings={variable.name: settings.shown(variable) for variable in VARIABLES},
        fail_open=settings.fail_open_on_unparsed,
        rules=parts.rules,
        reviewers={name: end.model for name, end in parts.panel.by_name.items()},
        unknown_reviewers=parts.panel.unknown,
        same_reviewers=parts.panel.same_as(worker),
        untested=() if has_own else plan.untested(os.listdir(session.seed_tests)),
        defaults_left_out=parts.facts.defaults_left_out,
        own_validators=tuple(each.name for each in parts.facts.validators),
        until=parts.schedule.until,
        spend_leftovers=parts.schedule.spend_leftovers,
    )

"""Landed work: a task whose commit stands on the branch is done, whatever a kill left unsaid.

The commit comes first, then the log and the plan. A resume makes up for what is missing of them,
and so does whoever takes up a word at rest: it would else be about work that seems not to have
landed. No file of a worktree is touched here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.config.secrets import Mask
from tilth.contract.prd import Status, Task
from tilth.git.commits import CommitRecord
from tilth.git.source import open_source
from tilth.git.workspace import Workspace
from tilth.log.events import Committed, Emit
from tilth.log.reattach import Exchange, exchange_of
from tilth.log.state import SessionState
from tilth.log.task_state import TaskState
from tilth.log.writer import Emitter
from tilth.session.resting_log import resting_log
from tilth.session.session import Session
from tilth.task import landing
from tilth.task.attempt import Green


@dataclass
class _Work:
    """Hold a task that has its commit; landing asks for no more of an attempt."""

    task: Task
    base: str
    emit: Emit
    iterations: int


@dataclass(frozen=True)
class _Keeper:
    record: Session


def finish_landed(session: Session, state: SessionState, mask: Mask) -> bool:
    """Mark done what has its commit; tell whether the log says more now than `state` does.

    The lock must be held, and the state must hold the conversations.
    """
    open_tasks = ((known, session.plan.task(known.id or "")) for known in state.open_tasks)
    near = [(known, task) for known, task in open_tasks if task and _may_have_landed(known, task)]
    if not near:
        return False
    source = open_source(Path(session.checkpoint.source))
    workspace = Workspace(source, session.workspace, session.id, SystemClock())
    if workspace.tip() is None:
        return False
    there = ((one, task, commit_on_branch(workspace, session, state, task)) for one, task in near)
    landed = [(known, task, record) for known, task, record in there if record is not None]
    if landed:
        _finish_all(session, state, mask, landed)
    return bool(landed)


def _may_have_landed(known: TaskState, task: Task) -> bool:
    """Tell whether a task got as far as its landing: git is asked about no other."""
    attempt = known.attempt
    on_its_way = known.waits_to_land or attempt.forced or attempt.last(Committed)
    return bool(on_its_way) or task.status in (Status.ACCEPTED, Status.DONE)


def _finish_all(
    session: Session,
    state: SessionState,
    mask: Mask,
    landed: list[tuple[TaskState, Task, CommitRecord]],
) -> None:
    with resting_log(session, mask, state) as log:
        for known, task, record in landed:
            attempt = known.attempt
            own = {"task_id": task.id, "trace_id": attempt.trace_id}
            emit = Emitter(log).bind(**own, iter=attempt.iterations)
            work = _Work(task, attempt.base, emit, attempt.iterations)
            _finish(session, state, work, record, exchange_of(known, state))


def _finish(
    session: Session, state: SessionState, work: _Work, record: CommitRecord, exchange: Exchange
) -> None:
    keeper = _Keeper(session)
    green = green_merged(exchange, record) if state.laned else exchange.green_of(record.tree)
    note_commit(state, work, record, session.checkpoint.branch)
    landing.mark_done(keeper, work, landed_as(keeper, work, record), green)


def commit_on_branch(
    workspace: Workspace, session: Session, state: SessionState, task: Task
) -> CommitRecord | None:
    """Find the commit of a task's present round on the branch."""
    start = state.seed.commit if state.seed else session.start_commit
    mine = (one for one in workspace.commits(start) if one.task == task.id and not one.failed)
    return next((one for one in mine if one.round == task.round), None)


def note_commit(
    state: SessionState, attempt: landing.Worked, record: CommitRecord, ref: str
) -> None:
    """Put a commit on record that a crash left without its event."""
    if record.id in state.commits:
        return
    attempt.emit(
        Committed(
            commit=record.id,
            tree=record.tree,
            parent=record.parent or attempt.base,
            kind="failed" if record.failed else "done",
            subject=record.subject,
            ref=ref,
            evaluator_check=record.check,
        )
    )


def landed_as(
    keeper: landing.Keeper, attempt: landing.Worked, record: CommitRecord
) -> landing.Landed:
    """Say what a commit stands for that was found on the branch."""
    score = _score_of(keeper, attempt, record)
    return landing.Landed(record.id, record.verdict or "", score, record.below_bar)


def _score_of(keeper: landing.Keeper, attempt: landing.Worked, record: CommitRecord) -> int | None:
    """Give the score a landed commit was given; one below the bar has the last that there is."""
    if record.below_bar:
        return landing.last_score(keeper, attempt)
    entries = keeper.record.read_ledger(attempt.task.id)
    return entries[-1].score if entries and entries[-1].accepted else None


def green_merged(exchange: Exchange, record: CommitRecord) -> Green | None:
    """Give what landed from a lane with its case: merged, its tree is none that was submitted."""
    case = exchange.submitted.case if exchange.submitted else None
    return Green(record.tree, case) if case else exchange.green

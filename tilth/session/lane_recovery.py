"""Recovery with several jobs: what a resume mends in every lane, and how each task goes on.

As with one job everything is decided from the log and from git. A task whose commit stands is
finished, one whose failure was begun is failed, one that was accepted waits for its turn again, one
whose landing was refused goes on from the merge, and all others in their own conversations.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tilth.base.failpoint import reach
from tilth.contract.outcomes import FreshReason
from tilth.contract.prd import Status
from tilth.log.events import Judging, SessionResume
from tilth.log.reattach import Exchange, exchange_of
from tilth.log.task_state import TaskState
from tilth.session.landed import commit_on_branch, green_merged, landed_as, note_commit
from tilth.session.lanes import SessionLanes
from tilth.session.recovery import (
    Found,
    attempt_of,
    failed_commit,
    go_on,
    keep_files,
    reason_of,
    retry_failed,
    why_fresh,
)
from tilth.session.session import SessionStatus
from tilth.task import dropping, landing
from tilth.task.acceptance import finish_begun
from tilth.task.attempt import Accepted, Attempt, Green
from tilth.task.bench import Bench
from tilth.task.landing_turn import go_on_from
from tilth.task.lanes import LaneWork
from tilth.task.words import settle

_AT_WORK = (Status.IN_PROGRESS, Status.PENDING_EVAL)
# Whether to begin anew all that was under way, or which of it.
Asked = bool | Collection[str]


@dataclass(frozen=True)
class _Reopened:
    """Hold a lane that was found again, where its exchange stood, and why it cannot go on."""

    work: LaneWork
    exchange: Exchange
    lost: bool


def recover_lanes(lanes: SessionLanes, found: Found, *, fresh: Asked = False) -> None:
    """Mend what a crash left in every lane, log the resume, and have each task ready to go on."""
    bench, memory = lanes.bench, found.memory
    settle(bench)
    # What was the one job's until now stands in the session's own worktree.
    place_of = lanes.place_of if memory.laned else lambda task_id: found.workspace
    dropping.end_resting(bench, (), place_of)
    reopened = [_reopen(lanes, found, known) for known in memory.open_tasks]
    open_lanes = [each for each in reopened if each is not None]
    settle(bench)
    finish_begun(bench)
    retried, unwound = retry_failed(bench, found.workspace)
    anew = [each.work for each in open_lanes if _begin_anew(found, each, fresh)]
    going = [each for each in open_lanes if each.work.attempt is not None]
    bench.emit(
        SessionResume(
            last_stop=memory.last_stop,
            retried=retried,
            pending=tuple(task.id for task in bench.record.plan.with_status(Status.PENDING)),
            unwound_commit=unwound,
            reattached=going[0].work.task.id if going else None,
            lanes=tuple(each.work.task.id for each in going),
            anew=tuple(work.task.id for work in anew),
            worktree_lost=found.worktree_lost or any(each.lost for each in open_lanes),
            judging=Judging.of(found.start),
            settings=found.start.settings,
            until=found.start.until,
        )
    )
    found.session.save_checkpoint(SessionStatus.RUNNING, bench.meter.by_role)
    reach("after telling what begins anew")
    for work in anew:
        _clear(work)
    for each in going:
        if each.work.attempt is not None:
            go_on(each.work.bench, each.work.attempt, each.exchange)


def _reopen(lanes: SessionLanes, found: Found, known: TaskState) -> _Reopened | None:
    """Give a task its lane back, unless it has ended."""
    task = lanes.bench.record.plan.task(known.id or "")
    if task is None or task.dropped:
        return None
    exchange = exchange_of(known, found.memory)
    work, lost = lanes.reopen(task, known.attempt.base)
    if lost and not found.memory.laned and not found.worktree_lost:
        # It was the one job's until now: its files come along.
        _move_in(work, found, known.attempt.base)
        lost = False
    if task.status is Status.PENDING:
        # Sent back by a person: what stands there is kept when it begins again.
        lanes.forget(task.id)
        return None
    if exchange.thread is None:
        return _Reopened(work, exchange, lost)
    work.attempt = attempt = attempt_of(work.bench, known.attempt, task, exchange)
    if _finish(work.bench, found, known, attempt, exchange):
        lanes.forget(task.id)
        return None
    if _take_up_refusal(work.bench, attempt, exchange):
        return _Reopened(work, exchange, lost=False)
    if attempt.task.status is Status.ACCEPTED:
        _wait_again(work.bench, known, attempt, exchange)
        return _Reopened(work, exchange, lost=False)
    return _Reopened(work, exchange, lost)


def _move_in(work: LaneWork, found: Found, base: str) -> None:
    """Bring what stands in the session's own worktree into a lane."""
    if work.bench.lane is not None:
        work.bench.lane.put(found.workspace.freeze(base).tree)


def _finish(
    bench: Bench, found: Found, known: TaskState, attempt: Attempt, exchange: Exchange
) -> bool:
    """Carry an ending through that was begun; tell whether it has ended."""
    record = commit_on_branch(found.workspace, found.session, found.memory, attempt.task)
    if record is not None:
        note_commit(found.memory, attempt, record, found.workspace.branch)
        landed = landed_as(bench, attempt, record)
        landing.finish(bench, attempt, landed, green_merged(exchange, record))
        return True
    failed = failed_commit(found, attempt.task)
    if failed is not None or attempt.task.status is Status.FAILED:
        if failed is not None:
            ref = landing.set_aside_ref(found.session.id, attempt.task.id)
            note_commit(found.memory, attempt, failed, ref)
        landing.mark_failed(bench, attempt, reason_of(failed), "ended by a crash")
        return True
    forced = exchange.forced
    if forced is not None and exchange.green and attempt.task.status is not Status.ACCEPTED:
        # It waits for its turn from here on.
        landing.force_accept(bench, attempt, exchange.green, forced, told=True)
    if known.rescued and exchange.submitted and attempt.task.status is not Status.ACCEPTED:
        landing.land_for_person(bench, attempt, exchange.submitted.case)
    return False


def _take_up_refusal(bench: Bench, attempt: Attempt, exchange: Exchange) -> bool:
    """Go on from a merge of which the worker was not told; tell whether there is one."""
    refused = exchange.refused
    if refused is None or (refused.call_id is not None and attempt.open_call is None):
        return False
    # It stands in the log, and no answer has come since: it can be made again.
    go_on_from(bench, attempt, refused)
    if refused.call_id is None:
        # The rebuilt conversation holds it already.
        attempt.refused = None
    return True


def _wait_again(bench: Bench, known: TaskState, attempt: Attempt, exchange: Exchange) -> None:
    """Have an accepted task wait for its turn, with what was ruled on it."""
    submitted, green = exchange.submitted, exchange.green
    if attempt.accepted is not None:
        return
    if exchange.forced is not None and green is not None:
        score = landing.last_score(bench, attempt)
        attempt.accepted = Accepted(green, landing.FORCED, score, below_bar=True)
        return
    if submitted is None:
        raise ValueError(f"{attempt.task.id} is accepted, but its log holds no case")
    own = [entry for entry in exchange.verdicts if entry.tree == submitted.tree]
    merged = [entry for entry in exchange.verdicts if entry.tree != submitted.tree]
    verdict, score = landing.NOT_EVALUATED, None
    if known.rescued:
        verdict, score = landing.PERSON, landing.last_score(bench, attempt)
    elif own:
        verdict = landing.UNPARSED if own[-1].parse_failed else str(own[-1].verdict)
        score = own[-1].score
    attempt.accepted = Accepted(Green(submitted.tree, submitted.case), verdict, score)
    attempt.ruled_merged = merged[-1] if merged else None
    # They are about its landing, and not for the worker to hear.
    attempt.ruled = {}


def _begin_anew(found: Found, reopened: _Reopened, fresh: Asked) -> bool:
    """Have a task begin anew that cannot or shall not go on; tell whether it does."""
    work = reopened.work
    status = work.attempt.task.status if work.attempt else work.task.status
    if status not in _AT_WORK:
        return False
    asked = fresh if isinstance(fresh, bool) else work.task.id in fresh
    why = why_fresh(work.bench, reopened.exchange, asked=asked, lost=reopened.lost)
    if why is None:
        return False
    work.task = work.attempt.task if work.attempt else work.task
    work.attempt, work.why = None, why
    if why.reason is not FreshReason.NOT_BEGUN:
        keep_files(work.bench, found, work.task, work.base or "")
    return True


def _clear(work: LaneWork) -> None:
    """Have a task that begins anew begin with clean files; it is on record that it does."""
    begun = work.why is not None and work.why.reason is not FreshReason.NOT_BEGUN
    if begun and work.bench.lane is not None and work.base is not None:
        work.bench.lane.put(work.base)

"""Recovery: what a resume mends, and how an interrupted task goes on.

Everything is decided from the log and from git. A task whose commit stands is finished, one whose
failure was begun is failed, and one in the middle goes on in its own conversation.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from tilth.base.errors import Unreadable
from tilth.base.failpoint import reach
from tilth.contract.case import CONTROL_TOOLS
from tilth.contract.outcomes import FailReason, Fresh, FreshReason
from tilth.contract.prd import Status, Task
from tilth.contract.verdict import parse_verdict
from tilth.git.commits import CommitRecord, failed_message
from tilth.git.workspace import Workspace
from tilth.log.events import Committed, Judging, SessionResume, SessionStart
from tilth.log.reattach import Exchange, exchange_of
from tilth.log.state import SessionState
from tilth.log.task_state import AttemptState
from tilth.model.messages import Turn
from tilth.session.landed import landed_as, note_commit
from tilth.session.session import Session, SessionStatus
from tilth.task import dropping, landing
from tilth.task.acceptance import finish_begun
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench
from tilth.task.briefs import INTERRUPTED_CALL
from tilth.task.budget import Allowance
from tilth.task.hearing import hear
from tilth.task.opening import begin
from tilth.task.tool_turns import give_result
from tilth.task.words import awaiting_landing, settle

_REASON = re.compile(r"FAILED \((\w+)\) ")


@dataclass(frozen=True)
class Found:
    """Hold what a resume found: session, worktree, what the log says, and how it sets out."""

    session: Session
    workspace: Workspace
    memory: SessionState
    start: SessionStart
    worktree_lost: bool


def recover(
    bench: Bench, found: Found, *, fresh: bool = False, clear: bool = True
) -> Attempt | None:
    """Mend what a crash left, log the resume, and give the task that goes on, if one does.

    What begins anew does so from its base; earlier versions did not `clear` its files.
    """
    memory, workspace = found.memory, found.workspace
    attempt, exchange = _carry_through(bench, found)
    retried, unwound = retry_failed(bench, workspace)
    open_task, tip = _open_task(bench, attempt), workspace.tip()
    if tip is not None and (open_task is None or not memory.open_tasks):
        # Between tasks or attempts nothing counts but the branch.
        workspace.restore(tip)
    why = why_fresh(bench, exchange, asked=fresh, lost=found.worktree_lost)
    reattached = attempt if why is None else None
    anew = attempt if why is not None and clear else None
    if anew is not None:
        keep_files(bench, found, anew.task, anew.base)
    bench.emit(
        SessionResume(
            last_stop=memory.last_stop,
            retried=retried,
            pending=tuple(task.id for task in bench.record.plan.with_status(Status.PENDING)),
            unwound_commit=unwound,
            reattached=reattached.task.id if reattached else None,
            anew=(anew.task.id,) if anew else (),
            worktree_lost=found.worktree_lost,
            fresh_reason=why.reason if why and open_task else None,
            was=why.was if why and open_task else None,
            now=why.now if why and open_task else None,
            judging=Judging.of(found.start),
            settings=found.start.settings,
            until=found.start.until,
            spend_leftovers=found.start.spend_leftovers,
        )
    )
    found.session.save_checkpoint(SessionStatus.RUNNING, bench.meter.by_role)
    if reattached is not None:
        return go_on(bench, reattached, exchange)
    if anew is not None:
        reach("after telling what begins anew")
        workspace.restore(anew.base)
    return _begin_again(bench, open_task, memory, why) if open_task else None


def _carry_through(bench: Bench, found: Found) -> tuple[Attempt | None, Exchange]:
    """Take the steps that a crash cut off, and give the attempt that has not ended."""
    attempt, exchange = _open_attempt(bench, found.memory)
    settle(bench)
    dropping.end_resting(bench, (), lambda task_id: found.workspace)
    if attempt is not None and _finish_landing(bench, found, attempt, exchange):
        attempt = None
        settle(bench)
    finish_begun(bench)
    if attempt is None:
        hear(bench)
    return attempt, exchange


def _begin_again(bench: Bench, task: Task, memory: SessionState, why: Fresh | None) -> Attempt:
    known = memory.open_tasks
    base = known[-1].attempt.base if known else None
    return begin(bench, task, bench.record.plan, why or Fresh(FreshReason.TAKEN_UP), base=base)


def keep_files(bench: Bench, found: Found, task: Task, base: str) -> None:
    """Keep what an attempt left that is not to go on."""
    tree = bench.tree
    left = tree.freeze(base).tree
    if left == tree.tree_of(base):
        return
    message = failed_message("fresh", task.id, task.title, session=found.session.id)
    tree.keep_aside(_free_ref(found, task.id), tree=left, parent=base, message=message)


def _free_ref(found: Found, task_id: str) -> str:
    """Name where work is kept that no attempt takes up; what was kept before stays there."""
    first = f"{landing.set_aside_ref(found.session.id, task_id)}.fresh"
    taken = found.workspace.asides()
    names = itertools.chain([first], (f"{first}-{number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)


def _open_attempt(bench: Bench, memory: SessionState) -> tuple[Attempt | None, Exchange]:
    """Rebuild the attempt the log ends in; without a conversation there is nothing to rebuild."""
    if not memory.open_tasks:
        return None, Exchange()
    known = memory.open_tasks[-1]
    exchange = exchange_of(known, memory)
    task = bench.record.plan.task(known.id or "")
    if exchange.thread is None or task is None or task.dropped:
        return None, exchange
    return attempt_of(bench, known.attempt, task, exchange), exchange


def attempt_of(bench: Bench, known: AttemptState, task: Task, exchange: Exchange) -> Attempt:
    """Rebuild an attempt from where its exchange stood."""
    thread = exchange.thread
    if thread is None:
        raise ValueError("an exchange without a conversation cannot be reattached")
    allowance = Allowance.of(bench.settings, exchange.bonuses)
    return Attempt(
        task=task,
        base=known.base,
        conversation=thread.conversation,
        allowance=allowance,
        emit=bench.emit.bind(task_id=task.id, trace_id=known.trace_id, iter=exchange.iterations),
        iterations=exchange.iterations,
        quiet=exchange.quiet,
        green=exchange.green,
        red=exchange.red,
        ledger_start=known.ledger_start,
        open_turn=exchange.open_turn,
        answered=exchange.answered,
        ruled=exchange.ruled,
        rulings=exchange.rulings,
        notes=list(exchange.notes),
        held=set(exchange.held),
        open_review=exchange.review,
        rejections=exchange.rejections,
        unreadable=exchange.unreadable,
        conflicted=exchange.conflicted,
    )


def _finish_landing(bench: Bench, found: Found, attempt: Attempt, exchange: Exchange) -> bool:
    """Carry an ending through that was begun; tell whether there was one."""
    if bench.words.state.task(attempt.task.id).dropped is not None:
        return True
    record, branch = _commit_of(found, attempt), found.workspace.branch
    if record is not None and not record.failed:
        note_commit(found.memory, attempt, record, branch)
        landed = landed_as(bench, attempt, record)
        landing.finish(bench, attempt, landed, exchange.green_of(record.tree))
        return True
    if record is not None or attempt.task.status is Status.FAILED:
        if record is not None:
            note_commit(found.memory, attempt, record, branch)
        landing.mark_failed(bench, attempt, reason_of(record), "ended by a crash")
        return True
    if exchange.forced is not None and exchange.green is not None:
        landing.force_accept(bench, attempt, exchange.green, exchange.forced, told=True)
        return True
    if found.memory.task(attempt.task.id).rescued and exchange.submitted is not None:
        landing.land_for_person(bench, attempt, exchange.submitted.case)
        return True
    return False


def _commit_of(found: Found, attempt: Attempt) -> CommitRecord | None:
    records = found.workspace.commits(attempt.base)
    on_branch = [record for record in records if record.task == attempt.task.id]
    return on_branch[-1] if on_branch else failed_commit(found, attempt.task)


def failed_commit(found: Found, task: Task) -> CommitRecord | None:
    """Give the commit of a failure that was begun; an older one was taken up by this attempt."""
    aside = found.workspace.aside(landing.set_aside_ref(found.session.id, task.id))
    if aside is None:
        return None
    mine = found.memory.task(task.id).attempt.last(Committed)
    if aside in found.memory.commits and (mine is None or mine.commit != aside):
        return None
    return found.workspace.record(aside)


def reason_of(record: CommitRecord | None) -> FailReason:
    """Read from its commit why a task failed."""
    found = _REASON.match(record.subject) if record is not None else None
    return FailReason(found.group(1)) if found else FailReason.ITER_CAP


def retry_failed(bench: Bench, workspace: Workspace) -> tuple[tuple[str, ...], str | None]:
    """Put failed tasks back in line, and take a FAILED commit off the branch."""
    unwound = _unwind(bench, workspace)
    # What a person has accepted meanwhile lands as soon as no task is under way.
    accepted = awaiting_landing(bench)
    failed = bench.record.plan.with_status(Status.FAILED)
    failed = tuple(task for task in failed if task.id not in accepted and not task.dropped)
    failed = tuple(task for task in failed if bench.words.tries_again(task))
    for task in failed:
        bench.record.save_task(task.moved(Status.PENDING))
    return tuple(task.id for task in failed), unwound


def _unwind(bench: Bench, workspace: Workspace) -> str | None:
    """Take a FAILED commit off the branch; its work waits under a ref until its task begins."""
    newest = workspace.newest()
    if newest is None or not newest.failed or newest.session != bench.record.id:
        return None
    if newest.task is None or newest.parent is None:
        return None
    # Not left in the files: this start may end before the task begins, or take up another first.
    ref = landing.set_aside_ref(bench.record.id, newest.task)
    workspace.set_aside(ref, newest.id, back_to=newest.parent)
    return newest.id


def _open_task(bench: Bench, attempt: Attempt | None) -> Task | None:
    """Give the task in the middle of its work, whether or not the log can give it back."""
    if attempt is not None:
        return attempt.task
    open_tasks = bench.record.plan.with_status(Status.IN_PROGRESS, Status.PENDING_EVAL)
    return open_tasks[0] if open_tasks else None


def why_fresh(bench: Bench, exchange: Exchange, *, asked: bool, lost: bool) -> Fresh | None:
    """Say why a task starts a fresh conversation, or None when it goes on with its own."""
    thread, worker = exchange.thread, bench.worker
    if asked:
        return Fresh(FreshReason.ASKED)
    if thread is None:
        return Fresh(FreshReason.NOT_BEGUN)
    if lost:
        return Fresh(FreshReason.WORKTREE_LOST)
    if thread.conversation.model != worker.name:
        return Fresh(FreshReason.MODEL_CHANGED, was=thread.conversation.model, now=worker.name)
    if thread.endpoint != worker.endpoint:
        return Fresh(FreshReason.ENDPOINT_CHANGED, was=thread.endpoint, now=worker.endpoint)
    return None


def go_on(bench: Bench, attempt: Attempt, exchange: Exchange) -> Attempt:
    """Answer what an interruption left unanswered, without running anything again."""
    for call in exchange.unanswered(CONTROL_TOOLS):
        attempt.answered[call.id] = give_result(
            bench, attempt, call, INTERRUPTED_CALL, is_error=True, interrupted=True
        )
    if attempt.open_turn is None and exchange.thread is not None:
        exchange.thread.settle()
    _keep_review(bench, attempt, exchange)
    return attempt


def _keep_review(bench: Bench, attempt: Attempt, exchange: Exchange) -> None:
    """Let a review go on in its own conversation, unless another evaluator would have to."""
    if attempt.open_review is None:
        return
    open_review, model = attempt.open_review.review, bench.evaluator_for(attempt.task)
    same = (open_review.conversation.model, exchange.reviewed_at) == (model.name, model.endpoint)
    if same:
        return
    if _has_ruled(bench, open_review.pending):
        # What was ruled stands; it is only not asked again about it.
        open_review.corrected = open_review.completed = True
    else:
        attempt.open_review = None


def _has_ruled(bench: Bench, turn: Turn | None) -> bool:
    bar, rules = bench.settings.eval_threshold, bench.rules
    try:
        return turn is not None and bool(parse_verdict(turn, bar, with_probe=True, rules=rules))
    except Unreadable:
        return False

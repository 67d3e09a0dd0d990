"""Resuming: what a wake mends, and how an interrupted task goes on.

Everything is decided from the log and from git. A task whose commit stands is finished, one whose
failure was begun is failed, and one in the middle is reattached to its own conversation.
"""

from __future__ import annotations

import re

from tilth.bench import Bench
from tilth.briefs import INTERRUPTED_CALL
from tilth.commits import CommitRecord
from tilth.errors import Unreadable
from tilth.exchange import landing
from tilth.exchange.attempt import Attempt
from tilth.exchange.opening import begin, fresh_allowance
from tilth.exchange.toolrun import give_result
from tilth.footing import LOST_WORKTREE, Footing, stand_up
from tilth.loop import CONTROL_TOOLS, enter
from tilth.outcomes import FailReason
from tilth.payloads import Committed, SessionResume
from tilth.prd import Status, Task
from tilth.recall.memory import Memory, OpenTask
from tilth.recall.reattach import Exchange, fold
from tilth.session import SessionStatus
from tilth.telling.cautions import cautions
from tilth.verdict import Judged, entry_of, parse_verdict
from tilth.workspace import Workspace

_REASON = re.compile(r"FAILED \((\w+)\) ")


def wake(bench: Bench, footing: Footing, *, fresh: bool = False) -> Attempt | None:
    """Mend what a crash left, log the resume, and give the task that goes on, if one does."""
    memory, workspace = footing.memory, footing.workspace
    notes = stand_up(footing, bench.emit)
    attempt, exchange = _open_attempt(bench, memory)
    if attempt is not None:
        _mend_ledger(bench, attempt, memory, exchange)
        if _finish_landing(bench, footing, attempt, exchange):
            attempt = None
    retried, unwound = _retry_failed(bench, workspace)
    open_task = _open_task(bench, attempt)
    tip = workspace.tip()
    if open_task is None and tip is not None:
        # Between two tasks nothing but the branch counts.
        workspace.restore(tip)
    lost = LOST_WORKTREE in notes
    why = "a fresh start was asked for" if fresh else _why_fresh(bench, exchange, lost=lost)
    reattached = attempt if attempt is not None and why is None else None
    bench.emit(
        SessionResume(
            last_stop=memory.last_stop,
            retried=retried,
            pending=tuple(task.id for task in bench.record.plan.with_status(Status.PENDING)),
            unwound_commit=unwound,
            reattached=reattached.task.id if reattached else None,
            notes=(*notes, *([why] if why and open_task else []), *cautions(footing.start)),
            settings=footing.start.settings,
        )
    )
    footing.session.save_checkpoint(SessionStatus.RUNNING, bench.meter.by_role)
    if reattached is not None:
        return _continue(bench, reattached, exchange)
    if open_task is None:
        return None
    base = memory.open.base if memory.open else None
    return begin(bench, open_task, bench.record.plan, why or "taken up again", base=base)


def _open_attempt(bench: Bench, memory: Memory) -> tuple[Attempt | None, Exchange]:
    """Rebuild the attempt the log ends in; without a conversation there is nothing to rebuild."""
    if memory.open is None:
        return None, Exchange()
    exchange = fold(memory.open.lines)
    task = bench.record.plan.task(memory.open.task_id)
    if exchange.thread is None or task is None:
        return None, exchange
    return _attempt(bench, memory.open, task, exchange), exchange


def _attempt(bench: Bench, open_task: OpenTask, task: Task, exchange: Exchange) -> Attempt:
    thread = exchange.thread
    if thread is None:
        raise ValueError("an exchange without a conversation cannot be reattached")
    allowance = fresh_allowance(bench).model_copy(update={"rejections": exchange.bonuses})
    return Attempt(
        task=task,
        base=open_task.base,
        conversation=thread.conversation,
        allowance=allowance,
        emit=bench.emit.bind(
            task_id=task.id, trace_id=open_task.trace_id, iter=exchange.iterations
        ),
        iterations=exchange.iterations,
        quiet=exchange.quiet,
        green=exchange.green,
        ledger_start=open_task.ledger_start,
        open_turn=exchange.open_turn,
        answered=exchange.answered,
        ruled=exchange.ruled,
        rulings=exchange.rulings,
    )


def _mend_ledger(bench: Bench, attempt: Attempt, memory: Memory, exchange: Exchange) -> None:
    """Append a verdict that the log holds and the ledger lacks."""
    known = len(bench.record.read_ledger(attempt.task.id))
    missing = memory.verdicts[attempt.task.id] - known
    for entry in list(exchange.ruled.values())[-missing:] if missing > 0 else ():
        bench.record.append_ledger_entry(entry)


def _finish_landing(bench: Bench, footing: Footing, attempt: Attempt, exchange: Exchange) -> bool:
    """Carry an ending through that was begun; tell whether there was one."""
    record = _commit_of(footing, attempt)
    if record is not None and not record.failed:
        _note_commit(footing, attempt, record)
        landed = landing.Landed(
            commit=record.id,
            verdict=record.verdict or "",
            score=_score(bench, attempt, record),
            below_bar=record.below_bar,
        )
        landing.finish(bench, attempt, landed, exchange.green_of(record.tree))
        return True
    if record is not None or attempt.task.status is Status.FAILED:
        if record is not None:
            _note_commit(footing, attempt, record)
        landing.mark_failed(bench, attempt, _reason(record), "ended by a crash")
        return True
    if exchange.forced is not None and exchange.green is not None:
        landing.force_accept(bench, attempt, exchange.green, exchange.forced, told=True)
        return True
    return False


def _commit_of(footing: Footing, attempt: Attempt) -> CommitRecord | None:
    records = footing.workspace.commits(attempt.base)
    on_branch = [record for record in records if record.task == attempt.task.id]
    if on_branch:
        return on_branch[-1]
    aside = footing.workspace.aside(landing.set_aside_ref(footing.session.id, attempt.task.id))
    if aside is not None and aside == footing.memory.tip:
        return footing.workspace.record(aside)
    return None


def _note_commit(footing: Footing, attempt: Attempt, record: CommitRecord) -> None:
    if record.id in footing.memory.parents:
        return
    attempt.emit(
        Committed(
            commit=record.id,
            tree=record.tree,
            parent=record.parent or attempt.base,
            kind="failed" if record.failed else "done",
            subject=record.subject,
            ref=footing.workspace.branch,
        )
    )


def _score(bench: Bench, attempt: Attempt, record: CommitRecord) -> int | None:
    """Give the score a landed commit was given; one below the bar has the last that there is."""
    if record.below_bar:
        return landing.last_score(bench, attempt)
    entries = bench.record.read_ledger(attempt.task.id)
    return entries[-1].score if entries and entries[-1].accepted else None


def _reason(record: CommitRecord | None) -> FailReason:
    found = _REASON.match(record.subject) if record is not None else None
    return FailReason(found.group(1)) if found else FailReason.ITER_CAP


def _retry_failed(bench: Bench, workspace: Workspace) -> tuple[tuple[str, ...], str | None]:
    """Put failed tasks back in line, and take a FAILED commit off the branch."""
    unwound = _unwind(bench, workspace)
    failed = bench.record.plan.with_status(Status.FAILED)
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


def _why_fresh(bench: Bench, exchange: Exchange, *, lost: bool) -> str | None:
    """Say why a task starts a fresh conversation, or None when it is reattached."""
    thread = exchange.thread
    if thread is None:
        return "its conversation had not begun"
    if lost:
        return "its worktree was lost"
    if thread.conversation.model != bench.worker.name:
        return f"the worker model is now {bench.worker.name}, was {thread.conversation.model}"
    if thread.endpoint != bench.worker.endpoint:
        return f"the worker endpoint is now {bench.worker.endpoint}, was {thread.endpoint}"
    return None


def _continue(bench: Bench, attempt: Attempt, exchange: Exchange) -> Attempt:
    """Answer what an interruption left unanswered, without running anything again."""
    for call in exchange.unanswered(CONTROL_TOOLS):
        attempt.answered[call.id] = give_result(
            bench, attempt, call, INTERRUPTED_CALL, is_error=True, interrupted=True
        )
    if attempt.open_turn is None and exchange.thread is not None:
        exchange.thread.settle()
    _take_up_review(bench, attempt, exchange)
    return attempt


def _take_up_review(bench: Bench, attempt: Attempt, exchange: Exchange) -> None:
    """Enter a verdict that was answered and recorded but not yet ruled on."""
    submitted, turn = exchange.submitted, exchange.review
    if submitted is None or turn is None or attempt.open_turn is None or exchange.ruled:
        return
    threshold = bench.settings.eval_threshold
    try:
        verdict = parse_verdict(turn, threshold)
    except Unreadable:
        return
    judged = Judged(
        ts=bench.stamp(),
        task_id=attempt.task.id,
        iter=attempt.iterations,
        tree=submitted["tree"],
        diff_sha256=submitted["diff_sha256"],
        validators={
            name: "passed" if passed else "failed" for name, passed in exchange.validators.items()
        },
    )
    entry = entry_of(verdict, judged, model=turn.model, threshold=threshold)
    enter(bench, attempt, submitted["call_id"], entry)
    attempt.ruled[submitted["call_id"]] = entry

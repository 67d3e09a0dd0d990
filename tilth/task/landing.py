"""Landing: how a task ends in git and in the record.

The order is always the same: what was ruled, then the commit, then the status. A crash between two
steps is recognised by the commit's trailers, so a task is landed once or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from tilth.config.settings import OnExhausted
from tilth.contract.case import Case
from tilth.contract.operator_requests import OperatorRequest, RequestKind, still_open
from tilth.contract.outcomes import FailReason
from tilth.contract.prd import Status, Task
from tilth.contract.verdict import Decision
from tilth.git.commits import CommitMessage, done_message, failed_message
from tilth.log.events import (
    Committed,
    Emit,
    OperatorRequested,
    ProposedLearnings,
    TaskDone,
    TaskFailed,
    TaskForceAccepted,
)
from tilth.task.attempt import Accepted, Attempt, Green
from tilth.task.bench import Bench, Record

NOT_EVALUATED = "not-evaluated"
UNPARSED = "unparsed"
FORCED = "force-accept"
PERSON = "person"


class Worked(Protocol):
    """Be what is landed: an attempt, or a failed task that a person accepts."""

    task: Task

    @property
    def base(self) -> str: ...

    @property
    def iterations(self) -> int: ...

    @property
    def emit(self) -> Emit: ...


class Keeper(Protocol):
    """Be whoever keeps a session's files: a bench, or a session at rest."""

    @property
    def record(self) -> Record: ...


@dataclass(frozen=True)
class Landed:
    """Say what a done task's commit stands for."""

    commit: str
    verdict: str
    score: int | None
    below_bar: bool


def set_aside_ref(session: str, task_id: str) -> str:
    """Name the ref that keeps the partial work of a task that was passed over."""
    return f"refs/tilth/{session}/{task_id}"


def land(bench: Bench, attempt: Worked, green: Green, *, verdict: str, score: int | None) -> None:
    """Commit an accepted tree, then mark its task done."""
    _done(bench, attempt, green, verdict=verdict, score=score, below_bar=False)


def land_for_person(bench: Bench, attempt: Attempt, case: Case) -> None:
    """Land the tree under review, which a person accepted before its evaluator had ruled."""
    known = bench.words.state.task(attempt.task.id).submitted
    if known is None:
        raise ValueError(f"{attempt.task.id} was accepted, but its log holds no case")
    score = last_score(bench, attempt)
    _done(bench, attempt, Green(known.tree, case), verdict=PERSON, score=score, below_bar=False)


def force_accept(
    bench: Bench, attempt: Attempt, green: Green, reason: FailReason, *, told: bool = False
) -> None:
    """Land the last green tree below the bar, and say so everywhere it will be read.

    `told` is for a resume: the event stands in the log already.
    """
    score = last_score(bench, attempt)
    if attempt.task.status is Status.IN_PROGRESS:
        move(bench, attempt, Status.PENDING_EVAL)
    if not told:
        attempt.emit(TaskForceAccepted(score=score, reason=reason))
    text = f"accepted below the bar ({reason}), score {_shown(score)}"
    _ask(bench, attempt.task, attempt.emit, RequestKind.BELOW_BAR, text)
    _done(bench, attempt, green, verdict=FORCED, score=score, below_bar=True)


def fail(bench: Bench, attempt: Attempt, reason: FailReason, detail: str) -> None:
    """Keep partial work as a commit that says FAILED, then mark the task failed."""
    frozen = bench.tree.freeze(attempt.base)
    task = attempt.task
    message = failed_message(reason, task.id, task.title, session=bench.record.id)
    if bench.queued:
        keep_aside(bench, attempt, frozen.tree, message)
        mark_failed(bench, attempt, reason, detail)
        return
    commit = _commit(bench, attempt, frozen.tree, message, kind="failed")
    if bench.settings.on_exhausted.effective(bench.record.plan) is OnExhausted.SKIP:
        # Nothing may be built on work that failed.
        ref = set_aside_ref(bench.record.id, task.id)
        bench.tree.set_aside(ref, commit, back_to=attempt.base)
    mark_failed(bench, attempt, reason, detail)


def mark_failed(bench: Bench, attempt: Attempt, reason: FailReason, detail: str) -> None:
    """Mark a task failed that has its commit; steps that were taken already are left alone."""
    again = attempt.task.status is Status.FAILED
    if not again:
        move(bench, attempt, Status.FAILED)
    line = f"{attempt.task.id} failed: {attempt.task.title}"
    bench.record.append_progress(line, again=again)
    attempt.emit(
        TaskFailed(
            reason=reason,
            detail=detail,
            iterations=attempt.iterations,
            obstacle=bench.words.state.task(attempt.task.id).attempt.obstacles.worst,
        )
    )


def block(bench: Bench, attempt: Attempt, question: str) -> None:
    """Put a task whose contract is at fault to a person."""
    _ask(bench, attempt.task, attempt.emit, RequestKind.BLOCKED, question)
    fail(bench, attempt, FailReason.BLOCKED, question)


def flag_seed(bench: Bench, attempt: Attempt, concern: str | None) -> None:
    """Tell a person that a task's acceptance tests are weak; nobody has to answer it."""
    if concern is not None and concern.strip():
        _ask(bench, attempt.task, attempt.emit, RequestKind.SEED_CONCERN, concern.strip())


def _done(
    bench: Bench,
    attempt: Worked,
    green: Green,
    *,
    verdict: str,
    score: int | None,
    below_bar: bool,
) -> None:
    accepted = Accepted(green, verdict, score, below_bar)
    if bench.queued and isinstance(attempt, Attempt):
        attempt.accepted = accepted
        move(bench, attempt, Status.ACCEPTED)
    else:
        commit_done(bench, attempt, accepted)


def commit_done(bench: Bench, attempt: Worked, accepted: Accepted) -> None:
    """Commit what was accepted onto its base, at which the branch stands, and mark it done."""
    task, green = attempt.task, accepted.green
    judged = accepted.verdict == Decision.ACCEPT
    message = done_message(
        task.id,
        task.title,
        session=bench.record.id,
        verdict=accepted.verdict,
        below_bar=accepted.below_bar,
        round=task.round,
        summary=green.case.summary,
        criteria=task.acceptance_criteria,
        check=bench.measured(bench.evaluator_for(task).name) if judged else None,
    )
    commit = _commit(bench, attempt, green.tree, message, kind="done")
    landed = Landed(commit, accepted.verdict, accepted.score, accepted.below_bar)
    finish(bench, attempt, landed, green)


def finish(bench: Bench, attempt: Worked, landed: Landed, green: Green | None) -> None:
    """Mark a task done that has its commit, and have the files as the commit has them."""
    mark_done(bench, attempt, landed, green)
    if not bench.queued:
        bench.tree.restore(landed.commit)


def mark_done(keeper: Keeper, attempt: Worked, landed: Landed, green: Green | None) -> None:
    """Mark a task done that has its commit; steps that were taken already are left alone."""
    again = attempt.task.status is Status.DONE
    if not again:
        if attempt.task.status is Status.IN_PROGRESS:
            move(keeper, attempt, Status.PENDING_EVAL)
        move(
            keeper,
            attempt,
            Status.DONE,
            commit=landed.commit,
            score=landed.score,
            quality_flag="below-bar" if landed.below_bar else None,
            summary=green.case.summary if green else None,
        )
    line = f"{attempt.task.id} done{_remark(landed)}: {attempt.task.title}"
    keeper.record.append_progress(line, again=again)
    if green is not None and not landed.below_bar:
        _keep_learnings(keeper, attempt, green)
    attempt.emit(
        TaskDone(
            commit=landed.commit,
            score=landed.score,
            iterations=attempt.iterations,
            evaluated=landed.verdict not in (NOT_EVALUATED, UNPARSED, PERSON),
            verdict=landed.verdict,
            below_bar=landed.below_bar,
        )
    )


def keep_aside(bench: Bench, attempt: Attempt, tree: str, message: CommitMessage) -> None:
    """Keep work of a lane that does not come into the branch, under a ref of its own."""
    ref = set_aside_ref(bench.record.id, attempt.task.id)
    message = _without_secrets(bench, message)
    commit = bench.tree.keep_aside(ref, tree=tree, parent=attempt.base, message=message)
    _tell_commit(attempt, commit, tree, message, kind="failed", ref=ref)


def _remark(landed: Landed) -> str:
    """Say what tells a task from one that was cleanly accepted."""
    if landed.below_bar:
        return f" (accepted below the bar, score {_shown(landed.score)})"
    remarks = {
        NOT_EVALUATED: " (not evaluated)",
        UNPARSED: " (accepted unread)",
        PERSON: " (accepted by a person)",
    }
    return remarks.get(landed.verdict, "")


def _shown(score: int | None) -> str:
    return "unknown" if score is None else str(score)


def _commit(
    bench: Bench,
    attempt: Worked,
    tree: str,
    message: CommitMessage,
    *,
    kind: Literal["done", "failed"],
) -> str:
    message = _without_secrets(bench, message)
    # What is done is put back into the files last of all; what failed stays as it stands.
    restored = kind == "done" and not bench.queued
    commit = bench.tree.commit(tree=tree, parent=attempt.base, message=message, restored=restored)
    _tell_commit(attempt, commit, tree, message, kind=kind, ref=bench.tree.branch)
    return commit


def _tell_commit(
    attempt: Worked,
    commit: str,
    tree: str,
    message: CommitMessage,
    *,
    kind: Literal["done", "failed"],
    ref: str,
) -> None:
    attempt.emit(
        Committed(
            commit=commit,
            tree=tree,
            parent=attempt.base,
            kind=kind,
            subject=message.subject,
            ref=ref,
            evaluator_check=message.check,
        )
    )


def _without_secrets(bench: Bench, message: CommitMessage) -> CommitMessage:
    # Trailers are the harness's own words, and a key that is one of them must not break them.
    hidden: CommitMessage = bench.mask.data(message)
    return hidden.model_copy(update={"trailers": message.trailers})


def move(keeper: Keeper, attempt: Worked, to: Status, **changes: object) -> None:
    """Move a task to its next status, here and in the session's plan."""
    # A reattached task may stand there already.
    if attempt.task.status is not to:
        attempt.task = attempt.task.moved(to, **changes)
        keeper.record.save_task(attempt.task)


def flag_red_done(bench: Bench, task: Task, emit: Emit, tests: Sequence[str]) -> None:
    """Tell a person that tests of done tasks are red where a task begins."""
    named = f"{', '.join(tests[:10])}{' …' if len(tests) > 10 else ''}"
    text = f"tests of tasks that are done are red where {task.id} begins: {named}"
    _ask(bench, task, emit, RequestKind.DONE_RED, text)


def _ask(bench: Bench, task: Task, emit: Emit, kind: RequestKind, text: str) -> None:
    """Put a question or a flag to a person, once, even if a crash came in between."""
    text = bench.mask.known(text)
    with bench.one_at_a_time:
        lines = bench.record.requests()
        # A question that was answered may be put again in the same words.
        standing = still_open(lines) if kind is RequestKind.BLOCKED else lines
        if any((old.task_id, old.kind, old.text) == (task.id, kind, text) for old in standing):
            return
        name = f"R-{sum(line.kind is not RequestKind.ANSWER for line in lines) + 1:03d}"
        bench.record.append_request(
            OperatorRequest(ts=bench.stamp(), request=name, task_id=task.id, kind=kind, text=text)
        )
        emit(OperatorRequested(request=name, kind=kind, text=text))


def last_score(keeper: Keeper, attempt: Worked) -> int | None:
    """Give the newest score any verdict on the task carries."""
    ledger = keeper.record.read_ledger(attempt.task.id)
    return next((entry.score for entry in reversed(ledger) if entry.score is not None), None)


def _keep_learnings(keeper: Keeper, attempt: Worked, green: Green) -> None:
    if green.case.learnings:
        keeper.record.save_learnings(attempt.task, green.case.learnings)
        attempt.emit(ProposedLearnings(learnings=green.case.learnings))

"""Dropping: a task under way that a person gives up ends, and its work is kept aside.

The word comes first. A crash at any step after it is mended by taking the same steps again, in a
run, by a resume or at rest. A task that is not under way ends where its word is taken up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from tilth.contract.outcomes import FailReason
from tilth.contract.prd import Task
from tilth.git.changes import Frozen
from tilth.git.commits import CommitMessage, CommitRecord, failed_message
from tilth.log.events import Committed
from tilth.log.state import SessionState
from tilth.log.task_state import TaskState
from tilth.task.attempt import Attempt
from tilth.task.bench import Bench
from tilth.task.landing import set_aside_ref
from tilth.task.words import Hearing, end_dropped


class Place(Protocol):
    """Be the worktree in which a task's work stands."""

    def attached(self) -> bool: ...

    def freeze(self, base: str) -> Frozen: ...

    def aside(self, ref: str) -> str | None: ...

    def record(self, commit: str) -> CommitRecord: ...

    def keep_aside(self, ref: str, *, tree: str, parent: str, message: CommitMessage) -> str: ...


def end_here(bench: Bench, attempt: Attempt) -> FailReason:
    """End the task under way that was given up; the files stand at its base again for the next."""
    end(bench, attempt.task.id, bench.tree)
    if not bench.queued:
        bench.tree.restore(attempt.base)
    return FailReason.DROPPED


def end_resting(bench: Bench, busy: Collection[str], place_of: Callable[[str], Place]) -> None:
    """End the tasks that were given up and at which no lane is at work."""
    for task_id in to_end(bench.words.state):
        if task_id not in busy:
            end(bench, task_id, place_of(task_id))


def to_end(state: SessionState) -> tuple[str, ...]:
    """Name the tasks under way that a person has given up."""
    return tuple(
        known.id for known in state.open_tasks if known.id is not None and known.is_being_dropped
    )


def end(hearing: Hearing, task_id: str, place: Place) -> None:
    """Keep what stands in the worktree of a task that was given up, and mark the task failed."""
    known, task = hearing.words.state.task(task_id), hearing.record.plan.task(task_id)
    if task is None:
        return
    # Without a conversation nothing was done yet, and older work may still stand aside.
    if known.attempt.conversation is not None and place.attached():
        _keep(hearing, known, task, place)
    end_dropped(hearing, known, task)


def _keep(hearing: Hearing, known: TaskState, task: Task, place: Place) -> None:
    if known.attempt.last(Committed) is not None:
        return
    session = hearing.record.id
    ref, base = set_aside_ref(session, task.id), known.attempt.base
    message = failed_message(FailReason.DROPPED, task.id, task.title, session=session)
    kept = place.aside(ref)
    if kept is None:
        tree = place.freeze(base).tree
        kept = place.keep_aside(ref, tree=tree, parent=base, message=message)
    made = place.record(kept)
    emit = hearing.emit.bind(
        task_id=task.id, trace_id=known.attempt.trace_id, iter=known.attempt.iterations
    )
    emit(
        Committed(
            commit=made.id,
            tree=made.tree,
            parent=made.parent or base,
            kind="failed",
            subject=made.subject,
            ref=ref,
        )
    )

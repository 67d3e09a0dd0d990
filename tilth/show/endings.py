"""Endings: how a task and a run stand when it stops, in words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from tilth.contract.outcomes import ExitCode, FailReason, StopReason
from tilth.contract.prd import Plan, Status
from tilth.log.events import Stop
from tilth.log.state import SessionState
from tilth.log.task_state import TaskOutcome, TaskState


class TaskEnding(StrEnum):
    """Say how a task stands when the run stops; clean and below the bar are told apart."""

    DONE = "done"
    BELOW_BAR = "below the bar"
    UNSEEN = "done, not evaluated"
    UNREAD = "done, verdict unread"
    BY_PERSON = "done, accepted by a person"
    FAILED = "failed"
    TO_LAND = "accepted, not landed"
    OPEN = "unfinished"
    WAITING = "not begun"


DONE_ENDINGS = (
    TaskEnding.DONE,
    TaskEnding.BELOW_BAR,
    TaskEnding.UNSEEN,
    TaskEnding.UNREAD,
    TaskEnding.BY_PERSON,
)

_WHY = {
    StopReason.ALL_DONE: "all tasks are done",
    StopReason.ITER_CAP: "a task used up its iterations",
    StopReason.EVALUATOR_CAP: "the evaluator kept rejecting a task",
    StopReason.NO_CASE: "the worker went quiet without handing in its task",
    StopReason.NO_PROGRESS: "the worker did the same again and again and got no further",
    StopReason.BLOCKED: "a task waits for your answer",
    StopReason.DROPPED: "nothing is left but what you dropped",
    StopReason.WALL_CLOCK: "the time for one start is used up",
    StopReason.TOKEN_CAP: "the session's tokens are used up",
    StopReason.COST_CAP: "the session's money is used up",
    StopReason.PROVIDER_FAILURE: "the model endpoint failed or refused us",
    StopReason.INTERRUPTED: "interrupted",
    StopReason.ERROR: "an error stopped the run",
}


def why_stopped(stop: Stop) -> str:
    """Say why a run stopped, and what an `all_done` is worth."""
    why = _WHY[stop.reason]
    if stop.reason is StopReason.ALL_DONE and stop.exit_code == ExitCode.TASK_FAILED:
        return f"{why}, but the branch is red"
    if stop.exit_code == ExitCode.BELOW_BAR:
        return f"{why}, but not all to the bar"
    return why


def tally(ended: Iterable[tuple[TaskEnding, str | None]]) -> str:
    """Count tasks by how they ended, given why they failed; one that is blocked is told apart."""
    numbers = Counter((ending, reason == FailReason.BLOCKED) for ending, reason in ended)
    said = (
        f"{numbers[ending, blocked]} {_tallied(ending, blocked)}"
        for ending in TaskEnding
        for blocked in (False, True)
        if numbers[ending, blocked]
    )
    return ", ".join(said)


def _tallied(ending: TaskEnding, blocked: bool) -> str:
    if ending is TaskEnding.BELOW_BAR:
        return "accepted below the bar"
    return "blocked" if ending is TaskEnding.FAILED and blocked else str(ending)


def task_endings(state: SessionState, plan: Plan | None) -> dict[str, TaskEnding]:
    """Give the ending of every task, in the plan's order."""
    known = state.tasks
    planned = {task.id: task.status for task in plan.tasks} if plan else {}
    ids = [*planned, *(task_id for task_id in known if task_id not in planned)]
    return {task_id: ending_of(known.get(task_id), planned.get(task_id)) for task_id in ids}


def ending_of(task: TaskState | None, status: Status | None = None) -> TaskEnding:
    """Say how one task stands, by its state and, where that says nothing, by the plan."""
    if task is None or (task.outcome is TaskOutcome.OPEN and not task.spend):
        # Nothing happened to it here; the plan knows what happened before.
        before = {Status.DONE: TaskEnding.DONE, Status.FAILED: TaskEnding.FAILED}
        return before.get(status or Status.PENDING, TaskEnding.WAITING)
    if task.outcome is TaskOutcome.FAILED:
        return TaskEnding.FAILED
    if task.outcome is TaskOutcome.OPEN:
        return TaskEnding.TO_LAND if task.waits_to_land else TaskEnding.OPEN
    if task.below_bar:
        return TaskEnding.BELOW_BAR
    if task.done and task.done.verdict == "unparsed":
        return TaskEnding.UNREAD
    if task.by_person:
        return TaskEnding.BY_PERSON
    return TaskEnding.UNSEEN if task.evaluated is False else TaskEnding.DONE

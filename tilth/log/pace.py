"""The pace: how long and how dear the tasks of a session were, from its state. Pure.

Time in which nobody worked (between two starts, asleep for a quota) is no part of a task's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tilth.base.clock import read_moment
from tilth.log.state import SessionState
from tilth.log.task_state import TaskOutcome, TaskState
from tilth.task.forecast import Past


def paces(state: SessionState) -> tuple[Past, ...]:
    """Give what each done task took."""
    done = (task for task in state.tasks.values() if task.outcome is TaskOutcome.DONE)
    found = ((task, busy_seconds(state, task)) for task in done if task.iterations)
    return tuple(past_of(task, seconds) for task, seconds in found if seconds is not None)


def past_of(task: TaskState, seconds: float) -> Past:
    """Say what one task took."""
    spent = task.spent
    cost = task.work_usd if spent.cost_known else None
    return Past(seconds=seconds, cost_usd=cost, iterations=task.iterations)


def busy_seconds(state: SessionState, task: TaskState) -> float | None:
    """Give how long a task was worked on from its start to its end; None before that."""
    began, ended = read_moment(task.started), read_moment(task.ended)
    if began is None or ended is None:
        return None
    idle = sum(_within(pause, began, ended) for pause in _merged(_pauses(state)))
    return max(0.0, (ended - began).total_seconds() - idle)


def slept_seconds(state: SessionState, since: str) -> float:
    """Give how long a session slept for quotas after a moment, as far as it has happened."""
    began, now = read_moment(since), read_moment(state.updated)
    if began is None or now is None:
        return 0.0
    return sum(_within(wait, began, now) for wait in _merged(_waits(state)))


_Interval = tuple[datetime, datetime]


def _pauses(state: SessionState) -> Iterator[_Interval]:
    yield from _waits(state)
    for start in state.starts:
        left, back = read_moment(start.after), read_moment(start.ts)
        if left is not None and back is not None:
            yield left, back


def _waits(state: SessionState) -> Iterator[_Interval]:
    for ts, wait in state.waits:
        began, until = read_moment(ts), read_moment(wait.until)
        if began is not None and until is not None:
            yield began, until


def _merged(pauses: Iterator[_Interval]) -> list[_Interval]:
    """Join what overlaps: a wait may go on over the end of a start."""
    merged: list[_Interval] = []
    for began, ended in sorted(pauses):
        if merged and began <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], ended))
        else:
            merged.append((began, ended))
    return merged


def _within(pause: _Interval, began: datetime, ended: datetime) -> float:
    return max(0.0, (min(pause[1], ended) - max(pause[0], began)).total_seconds())

"""The view of one task: everything about it, gathered from its session and its repository."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tilth.base.errors import CorruptSession, DiskError, UserError, WorkspaceError
from tilth.contract.prd import Status, Task
from tilth.contract.verdict import LedgerEntry, concern_id
from tilth.log.events import OperatorSpoke
from tilth.log.task_state import TaskState
from tilth.session.session import Session
from tilth.show.session_view import read_state

OBJECT_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class Diff:
    """Hold a diff and what it is between; where there is none, why."""

    text: str | None
    about: str


@dataclass(frozen=True)
class TaskView:
    """Hold one task with all that was said about it."""

    session: Session
    task: Task
    ledger: tuple[LedgerEntry, ...]
    state: TaskState
    diff: Diff
    tests: tuple[str, ...] = ()
    words: tuple[OperatorSpoke, ...] = ()
    # What it builds on that a person sent back.
    built_on: tuple[str, ...] = ()


def view_task(session: Session, task_id: str) -> TaskView:
    """Collect what there is about one task, or name the tasks there are."""
    task = session.plan.task(task_id)
    if task is None:
        known = ", ".join(each.id for each in session.plan.tasks)
        raise UserError(f"session {session.id} has no task {task_id!r}; it has {known}")
    whole = read_state(session)
    state = whole.task(task.id)
    return TaskView(
        session=session,
        task=task,
        ledger=session.read_ledger(task.id),
        state=state,
        diff=diff_of(session, task, state),
        tests=_tests(session, task),
        words=tuple(word for word in whole.words if word.task == task.id),
        built_on=session.plan.builds_on_sent_back(task),
    )


def _tests(session: Session, task: Task) -> tuple[str, ...]:
    if not session.seed_tests.is_dir():
        return ()
    names = (path.name for path in session.seed_tests.iterdir())
    return tuple(sorted(f"tests/{name}" for name in names if task.owns_test(name)))


def settled_by(ledger: Sequence[LedgerEntry], index: int) -> str | None:
    """Name the later verdict that settled a concern."""
    wanted = concern_id(index)
    for later in range(index + 1, len(ledger)):
        if wanted in ledger[later].resolved:
            return concern_id(later)
    return None


def diff_of(session: Session, task: Task, state: TaskState) -> Diff:
    """Compare what a task changed with what it began from, or say why that cannot be."""
    span = _span(task, state)
    if isinstance(span, str):
        return Diff(None, span)
    base, tree, about = span
    if not (OBJECT_NAME.fullmatch(base.rstrip("^")) and OBJECT_NAME.fullmatch(tree)):
        raise CorruptSession(f"session {session.id}: {task.id} names no git object: {tree!r}")
    # git is loaded only where there is something to compare.
    from tilth.git import trees
    from tilth.git.source import open_source

    try:
        source = open_source(Path(session.checkpoint.source))
        return Diff(trees.diff(source, base, tree), about)
    except (UserError, WorkspaceError, DiskError) as error:
        return Diff(None, f"the diff cannot be read: {error}")


def _span(task: Task, state: TaskState) -> tuple[str, str, str] | str:
    """Say what to compare, or why there is nothing to compare."""
    landed = state.commit
    if task.status is Status.DONE:
        if task.commit is None:
            return "the task came as done: there is no commit"
        return f"{task.commit}^", task.commit, f"commit {task.commit} against its parent"
    if task.status is Status.FAILED and landed is not None:
        return landed.parent, landed.commit, f"partial work, kept as commit {landed.commit}"
    base = state.attempt.case_base
    if state.submitted is None or not base:
        return "no case was submitted yet; the work so far is in the session's workspace/"
    about = "the tree of the last case against the task's base; later edits are not in it"
    return base, state.submitted.tree, about

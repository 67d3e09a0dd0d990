"""The dossier: everything about one task, gathered from its session and its repository."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tilth.errors import CorruptSession, DiskError, UserError, WorkspaceError
from tilth.eventlog import read_events
from tilth.events import parse_event
from tilth.payloads import (
    CaseSubmitted,
    Committed,
    ContextReset,
    SeedAlreadyGreen,
    SeedTampered,
    TaskFailed,
    ValidatorRun,
)
from tilth.prd import Status, Task
from tilth.session import Session
from tilth.values import describe_faults
from tilth.verdict import LedgerEntry, concern_id

_TOLD = {
    "context_reset",
    "case_submitted",
    "validator_run",
    "seed_tampered",
    "seed_already_green",
    "commit",
    "task_failed",
}
_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass
class Trace:
    """Hold what the log says about one task; of cases and commits the last."""

    task_id: str
    base: str | None = None
    submitted: CaseSubmitted | None = None
    reports: list[ValidatorRun] = field(default_factory=list)
    tampered: list[SeedTampered] = field(default_factory=list)
    already_green: tuple[str, ...] = ()
    commit: Committed | None = None
    failure: TaskFailed | None = None

    def read(self, line: Mapping[str, Any]) -> None:
        """Take in one line of the log."""
        if line.get("task_id") != self.task_id or line.get("type") not in _TOLD:
            return
        match _payload(line):
            case ContextReset() as reset:
                self.base, self.failure = reset.base, None
            case CaseSubmitted() as submitted:
                self.submitted, self.reports = submitted, []
            case ValidatorRun(phase="case") as report:
                self.reports.append(report)
            case SeedTampered() as tampered:
                self.tampered.append(tampered)
            case SeedAlreadyGreen() as green:
                self.already_green = green.tests
            case Committed() as commit:
                self.commit = commit
            case TaskFailed() as failure:
                self.failure = failure


@dataclass(frozen=True)
class Diff:
    """Hold a diff and what it is between; where there is none, why."""

    text: str | None
    about: str


@dataclass(frozen=True)
class Dossier:
    """Hold one task with all that was said about it."""

    session: Session
    task: Task
    ledger: tuple[LedgerEntry, ...]
    trace: Trace
    diff: Diff


def gather(session: Session, task_id: str) -> Dossier:
    """Collect one task's dossier, or name the tasks there are."""
    task = session.plan.task(task_id)
    if task is None:
        known = ", ".join(each.id for each in session.plan.tasks)
        raise UserError(f"session {session.id} has no task {task_id!r}; it has {known}")
    if not session.log_path.exists():
        raise CorruptSession(f"{session.log_path}: the file is missing")
    trace = Trace(task.id)
    for line in read_events(session.log_path):
        trace.read(line)
    return Dossier(session, task, session.read_ledger(task.id), trace, _diff(session, task, trace))


def settled_by(ledger: Sequence[LedgerEntry], index: int) -> str | None:
    """Name the later verdict that settled a concern."""
    wanted = concern_id(index)
    for later in range(index + 1, len(ledger)):
        if wanted in ledger[later].resolved:
            return concern_id(later)
    return None


def _payload(line: Mapping[str, Any]) -> Any:
    try:
        return parse_event(line).payload
    except (ValidationError, KeyError, TypeError) as error:
        said = describe_faults(error) if isinstance(error, ValidationError) else repr(error)
        what = f"event {line.get('seq')} ({line.get('type')})"
        raise CorruptSession(f"events.jsonl cannot be trusted: {what}: {said}") from None


def _diff(session: Session, task: Task, trace: Trace) -> Diff:
    span = _span(task, trace)
    if isinstance(span, str):
        return Diff(None, span)
    base, tree, about = span
    if not (_OBJECT.fullmatch(base.rstrip("^")) and _OBJECT.fullmatch(tree)):
        raise CorruptSession(f"session {session.id}: {task.id} names no git object: {tree!r}")
    # git is loaded only where there is something to compare.
    from tilth.repository import trees
    from tilth.repository.repo import open_source

    try:
        source = open_source(Path(session.checkpoint.source))
        return Diff(trees.diff(source, base, tree), about)
    except (UserError, WorkspaceError, DiskError) as error:
        return Diff(None, f"the diff cannot be read: {error}")


def _span(task: Task, trace: Trace) -> tuple[str, str, str] | str:
    """Say what to compare, or why there is nothing to compare."""
    landed = trace.commit
    if task.status is Status.DONE:
        if task.commit is None:
            return "the task came as done: there is no commit"
        return f"{task.commit}^", task.commit, f"commit {task.commit} against its parent"
    if task.status is Status.FAILED and landed is not None:
        return landed.parent, landed.commit, f"partial work, kept as commit {landed.commit}"
    if trace.submitted is None or trace.base is None:
        return "no case was submitted yet; the work so far is in the session's workspace/"
    about = "the tree of the last case against the task's base; later edits are not in it"
    return trace.base, trace.submitted.tree, about

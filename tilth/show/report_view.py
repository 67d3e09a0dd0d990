"""The view behind the report: what a session's files and its repository say, gathered.

It asks git for the size of each commit. A repository that is gone or unreadable costs those numbers
and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tilth.base.errors import CorruptSession, DiskError, UserError, WorkspaceError
from tilth.config.secrets import Mask
from tilth.contract.operator_requests import still_open
from tilth.contract.prd import Plan, Status
from tilth.gate.proof_notes import proof_notes
from tilth.gate.tampering import key_notes
from tilth.log.events import Committed
from tilth.log.state import SessionState
from tilth.log.task_state import TaskOutcome
from tilth.session.session import Session
from tilth.show.doubt import Landed
from tilth.show.next_commands import next_commands
from tilth.show.report import Material, Report, make_report
from tilth.show.session_row import read_row
from tilth.show.session_view import plan_of, read_state
from tilth.show.task_view import OBJECT_NAME

if TYPE_CHECKING:
    from tilth.git.source import SourceRepo


@dataclass(frozen=True)
class ReportView:
    """Hold a session's report and the state it was made from."""

    report: Report
    state: SessionState


def view_report(session: Session, state: SessionState | None = None) -> ReportView:
    """Make the report of a session as it stands on disk; its state may be known already."""
    row = read_row(session.directory)
    if row.fault:
        raise CorruptSession(row.fault)
    state = state or read_state(session)
    plan = plan_of(session)
    done = [task.id for task in plan.with_status(Status.DONE)]
    landed, fault = _landed(session, state, plan)
    material = Material(
        session=session.id,
        state=state,
        plan=plan,
        questions=still_open(session.requests(), done),
        seed_tests=_seed_tests(session),
        landed=landed,
        git_fault=fault,
        branch=row.branch,
        base_commit=row.base_commit,
        # Questions and tasks to look at stand in the report with commands of their own.
        next=next_commands(row, last_stop=state.last_stop, shows=False),
    )
    return ReportView(make_report(material), state)


def _seed_tests(session: Session) -> tuple[str, ...]:
    try:
        return tuple(sorted(os.listdir(session.seed_tests)))
    except OSError:
        return ()


def _landed(session: Session, state: SessionState, plan: Plan) -> tuple[dict[str, Landed], str]:
    """Measure the commit of every task that has ended; else say why it cannot be."""
    commits = dict(_commits(state, plan))
    if not commits:
        return {}, ""
    # git is loaded only where there is something to measure.
    from tilth.git import trees
    from tilth.git.changes import is_cut
    from tilth.git.history import open_history
    from tilth.git.source import open_source

    landed = {}
    try:
        source = open_source(Path(session.checkpoint.source))
        with open_history(source) as history:
            for task_id, made in commits.items():
                diff = trees.diff(source, made.parent, made.commit)
                size = history.size(made.parent, made.commit)
                landed[task_id] = Landed(
                    commit=made.commit,
                    subject=history.commit(made.commit).subject,
                    suppressions=_suppressions(source, made, diff, session.mask),
                    # Logs of earlier versions say nothing of it.
                    cut=bool(state.task(task_id).unshown) or is_cut(diff),
                    **dict(size),
                )
    except (UserError, WorkspaceError, DiskError) as error:
        return {}, str(error)
    return landed, ""


def _suppressions(source: SourceRepo, made: Committed, diff: str, mask: Mask) -> tuple[str, ...]:
    from tilth.git import trees

    changes = trees.changes(source, made.parent, made.commit)
    files = frozenset(trees.files(source, made.commit))

    def before(path: str) -> bytes | None:
        return trees.read(source, made.parent, path)

    def after(path: str) -> bytes | None:
        return trees.read(source, made.commit, path)

    keys = key_notes(changes, after, mask) if mask.finds(diff) else ()
    return (*keys, *proof_notes(changes, files, before, after))


def _commits(state: SessionState, plan: Plan) -> Iterator[tuple[str, Committed]]:
    for planned in plan.tasks:
        task = state.task(planned.id)
        made = state.commits.get(task.landed or "")
        if made is None or task.outcome is TaskOutcome.OPEN:
            continue
        if not (OBJECT_NAME.fullmatch(made.parent) and OBJECT_NAME.fullmatch(made.commit)):
            raise CorruptSession(f"{planned.id} names no git object: {made.commit!r}")
        yield planned.id, made

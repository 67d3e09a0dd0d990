"""The overview: how a session stands, as data for the viewer's first page.

It is the report, the state and the small files put side by side; it counts nothing itself.
"""

from __future__ import annotations

from typing import Any

from tilth.base.values import read_number
from tilth.contract.outcomes import ExitCode
from tilth.contract.verdict import concern_id
from tilth.log.state import SessionState
from tilth.session.session import Session, SessionStatus
from tilth.show.endings import TaskEnding
from tilth.show.purposes import purpose
from tilth.show.report import Report, TaskReport
from tilth.show.session_row import BROKEN, INTERRUPTED, SessionRow
from tilth.show.viewer.rows import milliseconds, shown
from tilth.show.viewer.timeline import Timeline

_TONES = {
    TaskEnding.DONE: "good",
    TaskEnding.BELOW_BAR: "doubt",
    TaskEnding.UNSEEN: "doubt",
    TaskEnding.UNREAD: "doubt",
    TaskEnding.BY_PERSON: "doubt",
    TaskEnding.FAILED: "failed",
    TaskEnding.TO_LAND: "running",
    TaskEnding.OPEN: "running",
    TaskEnding.WAITING: "waiting",
}
_EXIT_TONES = {
    ExitCode.DONE: "good",
    ExitCode.BELOW_BAR: "doubt",
    ExitCode.WAITING: "doubt",
    ExitCode.CAP: "doubt",
    ExitCode.INTERRUPTED: "doubt",
}
_AT_REST = {
    SessionStatus.INTERVIEWING.value: "The interview is under way",
    SessionStatus.PREPARED.value: "Prepared, not begun yet",
    INTERRUPTED: "Broken off: nobody works on it, and it did not stop by itself",
    BROKEN: "Cannot be read",
}


def overview(
    session: Session, row: SessionRow, report: Report, state: SessionState, timeline: Timeline
) -> dict[str, Any]:
    """Put together what the first page shows."""
    start = state.start
    spent = state.spent
    running = row.status == SessionStatus.RUNNING
    return {
        "id": session.id,
        "status": row.status,
        "running": running,
        "feature": row.feature,
        "branch": row.branch,
        "started": milliseconds(state.started or row.created),
        "ended": None if running else milliseconds(state.ended or state.updated or row.updated),
        "headline": _headline(row, report, state),
        "tone": _tone(row, report),
        "worker_model": start.worker_model if start else None,
        "evaluator_model": start.evaluator_model if start and start.evaluate else None,
        "sandbox": start.sandbox if start else None,
        "cost_usd": spent.whole_cost_usd,
        "tokens": spent.usage.counted,
        "landed": report.landed.model_dump(mode="json"),
        "tasks": [_task(task, state, running) for task in report.tasks],
        "timeline": {"start": timeline.start, "end": timeline.end, "rows": timeline.rows()},
        "spend": timeline.spend(state) | {"limit": _limit(state)},
        "questions": [question.model_dump(mode="json") for question in report.questions],
        "below_bar": [task.id for task in report.tasks if task.ending is TaskEnding.BELOW_BAR],
        "next": [{"command": command, "does": purpose(command)} for command in report.next],
        "last_seq": state.last_seq,
    }


def _headline(row: SessionRow, report: Report, state: SessionState) -> str:
    done = report.tally
    if row.status == SessionStatus.RUNNING:
        names = ", ".join(task.id or "" for task in state.open_tasks)
        return f"Running: {done or 'no task yet'}" + (f", at work on {names}" if names else "")
    if row.status in _AT_REST:
        return _AT_REST[row.status] + (f" · {done}" if row.total else "")
    why = report.ended.why if report.ended else row.status
    if all(task.ending is TaskEnding.DONE for task in report.tasks):
        return why[:1].upper() + why[1:]
    return f"{done}: {why}"


def _tone(row: SessionRow, report: Report) -> str:
    if row.status == SessionStatus.RUNNING:
        return "running"
    if row.status in (INTERRUPTED, BROKEN):
        return "failed"
    if report.ended is None:
        return "waiting"
    return _EXIT_TONES.get(ExitCode(report.ended.exit_code), "failed")


def _limit(state: SessionState) -> float | None:
    limit = read_number(state.settings.get("TILTH_MAX_COST_USD"))
    return limit if limit and limit > 0 else None


def _task(task: TaskReport, state: SessionState, running: bool) -> dict[str, Any]:
    return {
        **task_head(task, state, running),
        "verdicts": [
            {
                "id": concern_id(index),
                "verdict": entry.verdict,
                "category": entry.rejection_category,
                "source": entry.source,
                "proof": entry.proof,
            }
            for index, entry in enumerate(state.task(task.id).ledger)
        ],
    }


def task_head(task: TaskReport, state: SessionState, running: bool) -> dict[str, Any]:
    """Say of a task what both pages say of it; one that was left open is at work no more."""
    known = state.task(task.id)
    return {
        "id": task.id,
        "title": shown(task.title),
        "tone": _task_tone(task, running),
        "label": f"{task.ending} ({task.failure})" if task.failure else str(task.ending),
        "tampered": [shown(name) for name in task.tampered],
        "score": task.score,
        "iterations": known.iterations,
        "cost_usd": known.spent.whole_cost_usd,
        "doubt": task.doubt,
        "reasons": [shown(reason.text) for reason in task.reasons],
    }


def _task_tone(task: TaskReport, running: bool) -> str:
    if task.ending in (TaskEnding.TO_LAND, TaskEnding.OPEN) and not running:
        return "waiting"
    # Whatever the verdict: who changed what steers the gate is not simply done.
    return "doubt" if task.tampered and task.ending is TaskEnding.DONE else _TONES[task.ending]

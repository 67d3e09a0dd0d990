"""The summary: what `summary.json` says of a session, written from its state.

The keys are a promise to whoever reads the file. Pure: it counts nothing itself.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tilth.base.safe_text import one_line
from tilth.base.values import jsonable
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import SessionStart
from tilth.log.pace import busy_seconds
from tilth.log.state import SessionState
from tilth.log.task_state import TaskState
from tilth.task.budget import Spend

SUMMARY_VERSION = 1
CONCERN_LIMIT = 200

_FROM_START = (
    "source",
    "branch",
    "feature",
    "worker_model",
    "evaluator_model",
    "same_model",
    "evaluate",
    "fail_open",
    "reviewers",
    "unknown_reviewers",
    "sandbox",
)


def summary(state: SessionState) -> dict[str, Any]:
    """Give the content of `summary.json`."""
    tools: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    for work in state.works:
        tools.update(work.tools)
        verdicts.update(work.verdicts)
    return {
        **spent_document(state.spent),
        "version": SUMMARY_VERSION,
        "session": state.session,
        **_start_document(state.start),
        "started": state.started,
        "updated": state.updated,
        "ended": state.ended,
        "starts": len(state.starts),
        "last_stop": str(state.stop.reason) if state.stop else None,
        "exit_code": state.stop.exit_code if state.stop else None,
        "events": state.events,
        "iterations": state.iterations,
        "retries": state.retries,
        "by_role": {str(role): spent_document(spend) for role, spend in state.spend.items()},
        "suite_seconds": None if state.suite_ms is None else state.suite_ms / 1000,
        "unknown_prices": list(state.unpriced_models),
        "verdicts": dict(verdicts),
        "tools": dict(tools),
        "caps": [
            {"ts": ts, "cap": near.cap, "used": near.used, "limit": near.limit}
            for ts, near in state.caps
        ],
        "requests": [
            {
                "request": request.said.request,
                "kind": request.said.kind,
                "text": request.said.text,
                "task_id": request.task_id,
            }
            for request in state.requests
        ],
        "tasks": {
            task_id: {**task_document(task), "seconds": busy_seconds(state, task)}
            for task_id, task in state.tasks.items()
        },
    }


def _start_document(start: SessionStart | None) -> dict[str, Any]:
    said = jsonable(start) if start else {"reviewers": {}, "unknown_reviewers": []}
    return {name: said.get(name) for name in _FROM_START}


def spent_document(spend: Spend) -> dict[str, Any]:
    """Write down a spend; a call without a known price is counted, never priced at 0."""
    return {
        "model_calls": spend.calls,
        "tokens": spend.usage.counted,
        "usage": jsonable(spend.usage),
        "cost_usd": round(spend.cost_usd, 9),
        "cost_unknown_calls": spend.unpriced_calls,
    }


def task_document(task: TaskState) -> dict[str, Any]:
    """Write down one task over all its attempts."""
    case, attempt = task.case, task.attempt
    return {
        **spent_document(task.spent),
        "outcome": str(task.outcome),
        "reason": str(task.reason) if task.reason else None,
        "commit": task.landed,
        "score": task.score,
        "evaluated": task.evaluated,
        "verdict": task.done.verdict if task.done else None,
        "force_accepted": task.forced is not None,
        "started": task.started,
        "ended": task.ended,
        "attempts": len(task.attempts),
        "iterations": task.iterations,
        "attempt_iterations": attempt.iterations,
        "attempt_rejections": attempt.rejections,
        "by_role": {str(role): spent_document(spend) for role, spend in task.spend.items()},
        "verdicts": task.verdicts,
        "history": [
            {"ts": event.ts, **_verdict_document(entry)}
            for event, entry in zip(task.verdict_events, task.ledger, strict=True)
        ],
        "open_concerns": task.open_concerns,
        "second_usd": round(task.second_spend.cost_usd, 9),
        "second_opinions": [
            {"reviewer": said.reviewer, "verdict": said.verdict, "agrees": said.agrees}
            for said in task.opinions
        ],
        "tools": dict(task.tools),
        "tool_failures": task.tool_failures,
        "validators": {
            name: {"passed": gate.passed, "failed": gate.failed}
            for name, gate in task.gates.items()
        },
        "retries": task.retries,
        "nudges": task.nudges,
        "blocked_calls": task.blocked_calls,
        "unreadable_cases": task.unreadable_cases,
        "unreadable_verdicts": task.unreadable_verdicts,
        "verification_tail": task.verification_tail,
        "work_arounds": list(case.work_arounds) if case else [],
        "uncertainties": list(case.uncertainties) if case else [],
        "tampered": list(task.tampered_files),
        "already_green": list(task.already_green),
    }


def _verdict_document(entry: LedgerEntry) -> dict[str, Any]:
    """Write down a verdict in short; together they show whether a task converged."""
    return {
        "iter": entry.iter,
        "verdict": str(entry.verdict),
        "category": str(entry.rejection_category) if entry.rejection_category else None,
        "score": entry.score,
        "source": entry.source,
        "parse_failed": entry.parse_failed,
        "below_threshold": entry.below_threshold,
        "concern": one_line(entry.concern, CONCERN_LIMIT),
        "resolved": list(entry.resolved),
        "model": entry.model,
    }

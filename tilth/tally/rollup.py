"""The roll-up: the values that `summary.json` is made of.

Plain frozen data. How events add up to it is the business of `tilth.summary`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tilth.messages import Usage
from tilth.values import Value, jsonable
from tilth.verdict import Decision, is_settled

SUMMARY_VERSION = 1

Outcome = Literal["open", "done", "failed"]


class Spent(Value):
    """Sum model calls; a call without a known price is counted, never priced at 0."""

    model_calls: int = 0
    tokens: int = 0
    usage: Usage = Usage()
    cost_usd: float = 0.0
    cost_unknown_calls: int = 0

    @property
    def cost_known(self) -> bool:
        """Tell whether `cost_usd` is the whole cost."""
        return not self.cost_unknown_calls


class VerdictNote(Value):
    """Hold one verdict in short; together they show whether a task converged."""

    ts: str
    iter: int
    verdict: str
    category: str | None
    score: int | None
    source: str
    parse_failed: bool
    below_threshold: bool
    concern: str
    resolved: tuple[str, ...] = ()
    model: str | None = None


def open_concerns(history: Sequence[VerdictNote]) -> int:
    """Count what the evaluator objected to and has not settled since; an accept settles all."""
    if history and history[-1].verdict == Decision.ACCEPT:
        return 0
    return sum(
        note.source == "evaluator"
        and note.verdict == Decision.REJECT
        and not is_settled(index, (later.resolved for later in history[index + 1 :]))
        for index, note in enumerate(history)
    )


class GateCount(Value):
    """Count how often one validator passed and failed on a case."""

    passed: int = 0
    failed: int = 0


class TaskSummary(Spent):
    """Roll up one task over all its attempts."""

    outcome: Outcome = "open"
    reason: str | None = None
    commit: str | None = None
    score: int | None = None
    evaluated: bool | None = None
    # As in the commit's trailer: accept, not-evaluated, unparsed or force-accept.
    verdict: str | None = None
    force_accepted: bool = False
    started: str | None = None
    ended: str | None = None
    attempts: int = 0
    iterations: int = 0
    attempt_iterations: int = 0
    attempt_rejections: int = 0
    by_role: Mapping[str, Spent] = {}
    verdicts: Mapping[str, int] = {}
    history: tuple[VerdictNote, ...] = ()
    open_concerns: int = 0
    tools: Mapping[str, int] = {}
    tool_failures: int = 0
    validators: Mapping[str, GateCount] = {}
    retries: int = 0
    nudges: int = 0
    blocked_calls: int = 0
    unreadable_cases: int = 0
    unreadable_verdicts: int = 0
    work_arounds: tuple[str, ...] = ()
    uncertainties: tuple[str, ...] = ()
    tampered: tuple[str, ...] = ()
    already_green: tuple[str, ...] = ()


class CapNote(Value):
    """Hold one warning that a cap is near."""

    ts: str
    cap: str
    used: float
    limit: float


class RequestNote(Value):
    """Hold one question or flag that was put to a person."""

    request: str
    kind: str
    text: str
    task_id: str | None


class Summary(Spent):
    """Roll up one session."""

    version: int = SUMMARY_VERSION
    session: str | None = None
    source: str | None = None
    branch: str | None = None
    feature: str | None = None
    worker_model: str | None = None
    evaluator_model: str | None = None
    same_model: bool | None = None
    evaluate: bool | None = None
    fail_open: bool | None = None
    reviewers: Mapping[str, str] = {}
    unknown_reviewers: tuple[str, ...] = ()
    sandbox: str | None = None
    started: str | None = None
    updated: str | None = None
    ended: str | None = None
    starts: int = 0
    last_stop: str | None = None
    exit_code: int | None = None
    events: int = 0
    iterations: int = 0
    retries: int = 0
    by_role: Mapping[str, Spent] = {}
    unknown_prices: tuple[str, ...] = ()
    verdicts: Mapping[str, int] = {}
    tools: Mapping[str, int] = {}
    caps: tuple[CapNote, ...] = ()
    requests: tuple[RequestNote, ...] = ()
    tasks: Mapping[str, TaskSummary] = {}

    def to_json(self) -> dict[str, Any]:
        """Give the content of `summary.json`."""
        return jsonable(self)

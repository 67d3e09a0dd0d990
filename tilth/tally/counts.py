"""The counts: what each kind of event adds to a session's roll-up.

Reads of a payload only what it counts, and validates that. A kind that is not here adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field

from tilth.inert import one_line
from tilth.messages import Role, Usage
from tilth.tally.rollup import (
    CapNote,
    GateCount,
    RequestNote,
    Spent,
    Summary,
    TaskSummary,
    VerdictNote,
    open_concerns,
)
from tilth.values import Value
from tilth.verdict import Decision

CONCERN_LIMIT = 200


class Sums:
    """Hold the roll-up while it grows: the session's sums and each task's."""

    def __init__(self) -> None:
        self.whole = Summary()
        self.tasks: dict[str, TaskSummary] = {}

    def task(self, task_id: str) -> TaskSummary:
        """Give one task's roll-up; a task nothing has happened to is empty."""
        return self.tasks.get(task_id) or TaskSummary()

    def change(self, **changes: Any) -> None:
        """Replace fields of the whole."""
        self.whole = self.whole.model_copy(update=changes)

    def change_task(self, task_id: str | None, **changes: Any) -> None:
        """Replace fields of one task; what belongs to no task changes none."""
        if task_id is not None:
            self.tasks[task_id] = self.task(task_id).model_copy(update=changes)

    def add(self, task_id: str | None, field: str) -> None:
        """Add one to a counter of a task."""
        if task_id is not None:
            self.change_task(task_id, **{field: getattr(self.task(task_id), field) + 1})


def _more(counts: Mapping[str, int], key: str) -> dict[str, int]:
    return {**counts, key: counts.get(key, 0) + 1}


class Line(Value):
    """Hold when and where something happened; the payload is read by its kind."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    seq: int
    ts: str
    type: str
    session: str | None = None
    task_id: str | None = None
    iter: int | None = None
    payload: Any = None


class Seen(Value):
    """Read of one kind of payload only what is counted, from a line or from the payload itself."""

    model_config = ConfigDict(frozen=True, extra="ignore", from_attributes=True)

    def count(self, sums: Sums, line: Line) -> None:
        """Add what happened to the sums."""
        raise NotImplementedError


class _SessionStart(Seen):
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

    def count(self, sums: Sums, line: Line) -> None:
        sums.change(starts=sums.whole.starts + 1, **dict(self))


class _SessionResume(Seen):
    retried: tuple[str, ...] = ()

    def count(self, sums: Sums, line: Line) -> None:
        sums.change(starts=sums.whole.starts + 1, ended=None)
        for task_id in self.retried:
            sums.change_task(task_id, outcome="open", reason=None, ended=None)


class _ContextReset(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        if line.task_id is not None:
            sums.change_task(
                line.task_id,
                attempts=sums.task(line.task_id).attempts + 1,
                attempt_iterations=0,
                attempt_rejections=0,
                outcome="open",
                reason=None,
                ended=None,
            )


class _Usage(Usage):
    """Read a count of tokens that a later version may have written more into."""

    model_config = ConfigDict(frozen=True, extra="ignore", from_attributes=True)


class _ModelCall(Seen):
    role: str
    model: str
    usage: _Usage = _Usage()
    cost_usd: float | None = Field(default=None, allow_inf_nan=False, ge=0)

    def count(self, sums: Sums, line: Line) -> None:
        worked = int(self.role == Role.WORKER)
        whole = sums.whole
        unknown = whole.unknown_prices
        if self.cost_usd is None and self.model not in unknown:
            unknown = (*unknown, self.model)
        sums.change(
            **self._added(whole),
            by_role=self._by_role(whole.by_role),
            iterations=whole.iterations + worked,
            unknown_prices=unknown,
        )
        if line.task_id is None:
            return
        task = sums.task(line.task_id)
        sums.change_task(
            line.task_id,
            **self._added(task),
            by_role=self._by_role(task.by_role),
            iterations=task.iterations + worked,
            attempt_iterations=task.attempt_iterations + worked,
        )

    def _by_role(self, by_role: Mapping[str, Spent]) -> dict[str, Spent]:
        role = str(self.role)
        return {**by_role, role: Spent(**self._added(by_role.get(role) or Spent()))}

    def _added(self, to: Spent) -> dict[str, Any]:
        return {
            "model_calls": to.model_calls + 1,
            "tokens": to.tokens + self.usage.counted,
            "usage": to.usage + self.usage,
            # Rounded so that a long sum shows no dust of binary fractions.
            "cost_usd": round(to.cost_usd + (self.cost_usd or 0.0), 9),
            "cost_unknown_calls": to.cost_unknown_calls + (self.cost_usd is None),
        }


class _ModelRetry(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.change(retries=sums.whole.retries + 1)
        sums.add(line.task_id, "retries")


class _Nudge(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.add(line.task_id, "nudges")


class _PreToolBlock(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.add(line.task_id, "blocked_calls")


class _CaseParseError(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.add(line.task_id, "unreadable_cases")


class _EvaluatorParseError(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.add(line.task_id, "unreadable_verdicts")


class _ToolCalled(Seen):
    name: str

    def count(self, sums: Sums, line: Line) -> None:
        sums.change(tools=_more(sums.whole.tools, self.name))
        if line.task_id is not None:
            tools = _more(sums.task(line.task_id).tools, self.name)
            sums.change_task(line.task_id, tools=tools)


class _ToolResulted(Seen):
    is_error: bool = False
    exit_code: int | None = None

    def count(self, sums: Sums, line: Line) -> None:
        if self.is_error or self.exit_code:
            sums.add(line.task_id, "tool_failures")


class _ValidatorRun(Seen):
    name: str
    phase: str
    passed: bool

    def count(self, sums: Sums, line: Line) -> None:
        if line.task_id is None or self.phase != "case":
            return
        gates = sums.task(line.task_id).validators
        old = gates.get(self.name) or GateCount()
        new = GateCount(passed=old.passed + self.passed, failed=old.failed + (not self.passed))
        sums.change_task(line.task_id, validators={**gates, self.name: new})


class _SeedTampered(Seen):
    files: tuple[str, ...] = ()

    def count(self, sums: Sums, line: Line) -> None:
        if line.task_id is not None:
            known = sums.task(line.task_id).tampered
            new = tuple(name for name in self.files if name not in known)
            sums.change_task(line.task_id, tampered=known + new)


class _SeedAlreadyGreen(Seen):
    tests: tuple[str, ...] = ()

    def count(self, sums: Sums, line: Line) -> None:
        sums.change_task(line.task_id, already_green=self.tests)


class _Case(Seen):
    work_arounds: tuple[str, ...] = ()
    uncertainties: tuple[str, ...] = ()


class _CaseSubmitted(Seen):
    case: _Case

    def count(self, sums: Sums, line: Line) -> None:
        sums.change_task(line.task_id, **dict(self.case))


class _EvaluatorVerdict(Seen):
    verdict: str
    rejection_category: str | None = None
    concern: str = ""
    score: int | None = None
    source: str = "evaluator"
    parse_failed: bool = False
    below_threshold: bool = False
    resolved: tuple[str, ...] = ()
    model: str | None = None

    def count(self, sums: Sums, line: Line) -> None:
        named = str(self.rejection_category or self.verdict)
        sums.change(verdicts=_more(sums.whole.verdicts, named))
        if line.task_id is None:
            return
        task = sums.task(line.task_id)
        rejected = self.verdict != Decision.ACCEPT
        earned = rejected and (self.source == "evaluator" or self.parse_failed)
        history = (*task.history, self._note(line))
        sums.change_task(
            line.task_id,
            verdicts=_more(task.verdicts, named),
            history=history,
            open_concerns=open_concerns(history),
            attempt_rejections=task.attempt_rejections + earned,
            score=task.score if self.score is None else self.score,
        )

    def _note(self, line: Line) -> VerdictNote:
        return VerdictNote(
            ts=line.ts,
            iter=line.iter or 0,
            category=self.rejection_category,
            concern=one_line(self.concern, CONCERN_LIMIT),
            **self.model_dump(exclude={"rejection_category", "concern"}),
        )


class _OperatorRequested(Seen):
    request: str
    kind: str
    text: str

    def count(self, sums: Sums, line: Line) -> None:
        note = RequestNote(task_id=line.task_id, **dict(self))
        sums.change(requests=(*sums.whole.requests, note))


class _Committed(Seen):
    commit: str
    kind: str

    def count(self, sums: Sums, line: Line) -> None:
        sums.change_task(line.task_id, commit=self.commit)


class _TaskDone(Seen):
    commit: str | None = None
    score: int | None = None
    evaluated: bool | None = None
    verdict: str | None = None

    def count(self, sums: Sums, line: Line) -> None:
        if line.task_id is not None:
            said = {name: value for name, value in self if value is not None}
            sums.change_task(line.task_id, outcome="done", reason=None, ended=line.ts, **said)


class _TaskForceAccepted(Seen):
    reason: str

    def count(self, sums: Sums, line: Line) -> None:
        sums.change_task(line.task_id, outcome="done", force_accepted=True, ended=line.ts)


class _TaskFailed(Seen):
    reason: str

    def count(self, sums: Sums, line: Line) -> None:
        sums.change_task(line.task_id, outcome="failed", reason=self.reason, ended=line.ts)


class _CapWarning(Seen):
    cap: str
    used: float
    limit: float

    def count(self, sums: Sums, line: Line) -> None:
        sums.change(caps=(*sums.whole.caps, CapNote(ts=line.ts, **dict(self))))


class _Stop(Seen):
    reason: str
    exit_code: int | None = None

    def count(self, sums: Sums, line: Line) -> None:
        sums.change(last_stop=self.reason, exit_code=self.exit_code, ended=line.ts)


KINDS: dict[str, type[Seen]] = {
    "session_start": _SessionStart,
    "session_resume": _SessionResume,
    "context_reset": _ContextReset,
    "model_call": _ModelCall,
    "model_retry": _ModelRetry,
    "nudge": _Nudge,
    "tool_call": _ToolCalled,
    "tool_result": _ToolResulted,
    "pre_tool_block": _PreToolBlock,
    "validator_run": _ValidatorRun,
    "seed_tampered": _SeedTampered,
    "seed_already_green": _SeedAlreadyGreen,
    "case_parse_error": _CaseParseError,
    "case_submitted": _CaseSubmitted,
    "evaluator_verdict": _EvaluatorVerdict,
    "evaluator_parse_error": _EvaluatorParseError,
    "operator_request": _OperatorRequested,
    "commit": _Committed,
    "task_done": _TaskDone,
    "task_force_accepted": _TaskForceAccepted,
    "task_failed": _TaskFailed,
    "cap_warning": _CapWarning,
    "stop": _Stop,
}

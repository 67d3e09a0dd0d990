"""The counts: what each kind of event adds to a session's roll-up.

Reads of a payload only what it counts, and validates that. A kind that is not here adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ConfigDict, Field

from tilth.inert import one_line
from tilth.messages import Role, Usage
from tilth.tally.rollup import CapNote, GateCount, RequestNote, VerdictNote, open_concerns
from tilth.tally.sums import Sums
from tilth.values import Value
from tilth.verdict import Decision

CONCERN_LIMIT = 200


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
        sums.whole.add("starts")
        sums.whole.set(**dict(self))


class _SessionResume(Seen):
    retried: tuple[str, ...] = ()

    def count(self, sums: Sums, line: Line) -> None:
        sums.whole.add("starts")
        sums.whole.set(ended=None)
        for task_id in self.retried:
            sums.task(task_id).set(outcome="open", reason=None, ended=None)


class _ContextReset(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        task = sums.task(line.task_id)
        task.add("attempts")
        task.set(attempt_iterations=0, attempt_rejections=0)
        task.set(outcome="open", reason=None, ended=None)


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
        whole, task = sums.whole, sums.task(line.task_id)
        if self.cost_usd is None and self.model not in whole["unknown_prices"]:
            whole.append("unknown_prices", self.model)
        for draft in (whole, task):
            draft.spend(str(self.role), self.usage, self.cost_usd)
            draft.add("iterations", worked)
        task.add("attempt_iterations", worked)


class _ModelRetry(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.whole.add("retries")
        sums.task(line.task_id).add("retries")


class _Nudge(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).add("nudges")


class _PreToolBlock(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).add("blocked_calls")


class _CaseParseError(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).add("unreadable_cases")


class _EvaluatorParseError(Seen):
    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).add("unreadable_verdicts")


class _ToolCalled(Seen):
    name: str

    def count(self, sums: Sums, line: Line) -> None:
        sums.whole.add_in("tools", self.name)
        sums.task(line.task_id).add_in("tools", self.name)


class _ToolResulted(Seen):
    is_error: bool = False
    exit_code: int | None = None

    def count(self, sums: Sums, line: Line) -> None:
        if self.is_error or self.exit_code:
            sums.task(line.task_id).add("tool_failures")


class _ValidatorRun(Seen):
    name: str
    phase: str
    passed: bool

    def count(self, sums: Sums, line: Line) -> None:
        if self.phase != "case":
            return
        task = sums.task(line.task_id)
        gates = task["validators"]
        old = gates.get(self.name) or GateCount()
        new = GateCount(passed=old.passed + self.passed, failed=old.failed + (not self.passed))
        task.set(validators={**gates, self.name: new})


class _SeedTampered(Seen):
    files: tuple[str, ...] = ()

    def count(self, sums: Sums, line: Line) -> None:
        task = sums.task(line.task_id)
        known = task["tampered"]
        task.append("tampered", *(name for name in self.files if name not in known))


class _SeedAlreadyGreen(Seen):
    tests: tuple[str, ...] = ()

    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).set(already_green=self.tests)


class _Case(Seen):
    work_arounds: tuple[str, ...] = ()
    uncertainties: tuple[str, ...] = ()


class _CaseSubmitted(Seen):
    case: _Case

    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).set(**dict(self.case))


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
        sums.whole.add_in("verdicts", named)
        task = sums.task(line.task_id)
        task.add_in("verdicts", named)
        task.append("history", self._note(line))
        task.set(open_concerns=open_concerns(task["history"]))
        rejected = self.verdict != Decision.ACCEPT
        task.add("attempt_rejections", rejected and (self._is_evaluators or self.parse_failed))
        if self.score is not None:
            task.set(score=self.score)

    @property
    def _is_evaluators(self) -> bool:
        return self.source == "evaluator"

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
        sums.whole.append("requests", RequestNote(task_id=line.task_id, **dict(self)))


class _Committed(Seen):
    commit: str
    kind: str

    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).set(commit=self.commit)


class _TaskDone(Seen):
    commit: str | None = None
    score: int | None = None
    evaluated: bool | None = None
    verdict: str | None = None

    def count(self, sums: Sums, line: Line) -> None:
        said = {name: value for name, value in self if value is not None}
        sums.task(line.task_id).set(outcome="done", reason=None, ended=line.ts, **said)


class _TaskForceAccepted(Seen):
    reason: str

    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).set(outcome="done", force_accepted=True, ended=line.ts)


class _TaskFailed(Seen):
    reason: str

    def count(self, sums: Sums, line: Line) -> None:
        sums.task(line.task_id).set(outcome="failed", reason=self.reason, ended=line.ts)


class _CapWarning(Seen):
    cap: str
    used: float
    limit: float

    def count(self, sums: Sums, line: Line) -> None:
        sums.whole.append("caps", CapNote(ts=line.ts, **dict(self)))


class _Stop(Seen):
    reason: str
    exit_code: int | None = None

    def count(self, sums: Sums, line: Line) -> None:
        sums.whole.set(last_stop=self.reason, exit_code=self.exit_code, ended=line.ts)


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

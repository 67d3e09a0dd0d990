"""The verdict: the evaluator's structured answer, and the ledger entry it becomes.

Reads a `submit_verdict` call strictly, applies the score threshold, and renders a rejection for the
worker. Never asks a model and never writes a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from tilth.errors import Unreadable
from tilth.messages import ToolSpec, Turn
from tilth.values import Value, describe_faults

LEDGER_INJECT_LIMIT = 5


class RejectionCategory(StrEnum):
    """Name what kind of fault a rejection is about."""

    SCOPE_CREEP = "scope_creep"
    ACCEPTANCE_GAP = "acceptance_gap"
    WEAK_TEST = "weak_test"
    TESTS_PASS_BUT_WRONG = "tests_pass_but_wrong"  # noqa: S105  # not a password
    HALF_FINISHED = "half_finished"
    SPEC_VIOLATION = "spec_violation"


class Decision(StrEnum):
    """Say which way a verdict went."""

    ACCEPT = "accept"
    REJECT = "reject"


class Verdict(Value):
    """Hold the evaluator's answer as it must be written."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    verdict: Decision
    rejection_category: RejectionCategory | None = Field(
        default=None, description="null on accept; on reject the one category that fits best."
    )
    concern: str = Field(
        description="One to three sentences: what decides this verdict, in concrete terms."
    )
    evidence: tuple[str, ...] = Field(
        default=(), description="Pointers such as `path/to/file.py:symbol` or a test's name."
    )
    next_step: str | None = Field(
        default=None, description="null on accept; on reject the one change that would settle it."
    )
    score: int | None = Field(
        default=None, ge=0, le=100, description="0 to 100: how far this is a proper solution."
    )
    resolved: tuple[str, ...] = Field(
        default=(), description="Ids of earlier concerns (C1, C2 …) that are now settled."
    )

    @field_validator("evidence", "resolved", mode="before")
    @classmethod
    def _list_of_text(cls, value: Any) -> Any:
        if value is None:
            return ()
        return (value,) if isinstance(value, str) else value

    @field_validator("rejection_category", "next_step", mode="before")
    @classmethod
    def _blank_as_null(cls, value: Any) -> Any:
        return None if isinstance(value, str) and not value.strip() else value

    @field_validator("score", mode="before")
    @classmethod
    def _number_as_written(cls, value: Any) -> Any:
        if isinstance(value, bool):
            raise ValueError("must be a whole number from 0 to 100")
        return value

    @model_validator(mode="after")
    def _hang_together(self) -> Verdict:
        if self.verdict is Decision.ACCEPT:
            if self.rejection_category is not None:
                raise ValueError("an accept must have rejection_category null")
            return self
        if self.rejection_category is None:
            raise ValueError("a reject needs a rejection_category")
        if self.next_step is None:
            raise ValueError("a reject needs a next_step")
        if not self.concern.strip():
            raise ValueError("a reject needs a concern")
        return self


SUBMIT_VERDICT = ToolSpec.of(
    "submit_verdict",
    "Give your verdict on this task. Call it exactly once; it is the only way to answer.",
    Verdict,
)


def parse_verdict(turn: Turn, threshold: int) -> Verdict:
    """Read the one verdict of an answer, or raise Unreadable saying what was wrong."""
    if turn.was_cut:
        raise Unreadable("the answer was cut off before it was complete; answer more briefly")
    calls = turn.tool_calls
    if len(calls) != 1:
        raise Unreadable(f"call submit_verdict exactly once; this answer has {len(calls)} calls")
    if calls[0].name != SUBMIT_VERDICT.name:
        raise Unreadable(f"there is no tool {calls[0].name!r}; call submit_verdict")
    try:
        verdict = Verdict.model_validate(calls[0].arguments)
    except ValidationError as error:
        raise Unreadable(f"submit_verdict: {describe_faults(error)}") from None
    if threshold and verdict.score is None:
        raise Unreadable("submit_verdict: score is required, a whole number from 0 to 100")
    return verdict


class LedgerEntry(Value):
    """Hold one verdict on one task, bound to what it judged."""

    ts: str
    task_id: str
    iter: int
    verdict: Decision
    rejection_category: RejectionCategory | None
    concern: str
    evidence: tuple[str, ...]
    next_step: str | None
    score: int | None
    resolved: tuple[str, ...]
    source: Literal["evaluator", "harness"]
    parse_failed: bool
    below_threshold: bool
    model: str | None
    tree: str
    diff_sha256: str
    validators: Mapping[str, Literal["passed", "failed"]]

    @property
    def accepted(self) -> bool:
        return self.verdict is Decision.ACCEPT

    @property
    def earns_bonus(self) -> bool:
        """Tell whether this rejection adds to the worker's iterations."""
        return not self.accepted and (self.source == "evaluator" or self.parse_failed)

    @property
    def counts_toward_cap(self) -> bool:
        return not self.accepted and self.source == "evaluator" and not self.parse_failed


class Judged(Value):
    """Name exactly what a verdict is about."""

    ts: str
    task_id: str
    iter: int
    tree: str
    diff_sha256: str
    validators: Mapping[str, Literal["passed", "failed"]]


def entry_of(verdict: Verdict, judged: Judged, *, model: str, threshold: int) -> LedgerEntry:
    """Make the ledger entry; an accept below the threshold is recorded as a reject."""
    below = bool(
        threshold and verdict.verdict is Decision.ACCEPT and (verdict.score or 0) < threshold
    )
    said = dict(verdict)
    if below:
        said["verdict"] = Decision.REJECT
        said["rejection_category"] = RejectionCategory.ACCEPTANCE_GAP
        said["next_step"] = verdict.concern or "Raise the quality of the change."
    return LedgerEntry(
        **dict(judged),
        **said,
        source="evaluator",
        parse_failed=False,
        below_threshold=below,
        model=model,
    )


def harness_reject(
    judged: Judged,
    *,
    category: RejectionCategory,
    concern: str,
    next_step: str,
    parse_failed: bool = False,
    model: str | None = None,
) -> LedgerEntry:
    """Make the entry of a rejection that no evaluator gave."""
    return LedgerEntry(
        **dict(judged),
        verdict=Decision.REJECT,
        rejection_category=category,
        concern=concern,
        evidence=(),
        next_step=next_step,
        score=None,
        resolved=(),
        source="harness",
        parse_failed=parse_failed,
        below_threshold=False,
        model=model,
    )


def concern_id(index: int) -> str:
    """Name the concern of the ledger entry at a position, counted from 0."""
    return f"C{index + 1}"


def format_reject_feedback(entry: LedgerEntry, index: int) -> str:
    """Tell the worker what was rejected and what counts as resolved."""
    who = "The reviewer" if entry.source == "evaluator" else "The harness"
    lines = [
        f"REJECTED ({entry.rejection_category}). {who} did not accept this case.",
        "",
        f"Concern {concern_id(index)}: {entry.concern}",
    ]
    if entry.evidence:
        lines += ["Evidence:", *(f"- {item}" for item in entry.evidence)]
    lines += [
        f"Next step: {entry.next_step}",
        "",
        (
            "What counts as resolved: fix the named concern at its root, run this task's "
            "acceptance tests once, and call submit_case again. Leave everything else as it is."
        ),
    ]
    return "\n".join(lines)


def format_ledger(entries: Sequence[LedgerEntry]) -> str:
    """Show the last verdicts on a task, oldest first, with the ids of their concerns."""
    lines = []
    first = max(0, len(entries) - LEDGER_INJECT_LIMIT)
    for index in range(first, len(entries)):
        lines += _ledger_lines(entries[index], index, settled=_settled(entries, index))
    return "\n".join(lines)


def _settled(entries: Sequence[LedgerEntry], index: int) -> bool:
    return is_settled(index, (entry.resolved for entry in entries[index + 1 :]))


def is_settled(index: int, later: Iterable[Sequence[str]]) -> bool:
    """Tell whether a later verdict names the concern at this position; other ids mean nothing."""
    return any(concern_id(index) in (said.strip().upper() for said in ids) for ids in later)


def _ledger_lines(entry: LedgerEntry, index: int, *, settled: bool) -> list[str]:
    score = "" if entry.score is None else f", score {entry.score}"
    state = " (settled)" if settled else ""
    category = f" {entry.rejection_category}" if entry.rejection_category else ""
    low = ", accepted but scored too low" if entry.below_threshold else ""
    said = f"{entry.verdict}{category}{score}{low}, by {entry.source}"
    lines = [f"- {concern_id(index)}{state}: {said}"]
    lines.append(f"  concern: {entry.concern}")
    if entry.evidence:
        lines.append(f"  evidence: {'; '.join(entry.evidence)}")
    if entry.next_step:
        lines.append(f"  next step: {entry.next_step}")
    return lines

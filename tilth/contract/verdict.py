"""The verdict: the evaluator's structured answer, and the ledger entry it becomes.

Reads a `submit_verdict` call (an accept must be exact, a reject is never lost), applies the score
threshold. Never asks a model and never writes a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from tilth.base.errors import Unreadable
from tilth.base.safe_text import shortened
from tilth.base.values import Value
from tilth.contract.earlier_scores import score_before
from tilth.contract.rules import NEWEST_RULES, Rules
from tilth.contract.tool_arguments import is_nothing, read_arguments, unpacked
from tilth.model.messages import ToolSpec, Turn


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


_CATEGORIES = ", ".join(RejectionCategory)
_REJECTS = frozenset({"reject", "rejected"})
# `72`, `72.9`, `**72**`, `SCORE: **72**`, `72/100`, `72%`
_SCORE = re.compile(
    r"[*_`\s]*(?:score\s*[:=])?[*_`\s]*(\d{1,3})(\.\d+)?[*_`\s]*(?:/\s*100|%)?[*_`\s]*",
    re.IGNORECASE,
)
_LONGEST_SCORE = 100
_SCORE_RANGE = "must be a whole number from 0 to 100"
_NO_REASON = "The evaluator rejected this without saying why."


class Proof(StrEnum):
    """Say whether a concern's probe was seen to fail."""

    PROVEN = "proven"
    UNPROVEN = "unproven"


class Verdict(Value):
    """Hold the evaluator's answer; what it found stands before what it makes of it.

    What each field is for stands in `prompts/evaluator.md`, and is not said twice.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    concern: str
    evidence: tuple[str, ...] = ()
    probe: str | None = None
    verdict: Decision
    rejection_category: RejectionCategory | None = None
    next_step: str | None = None
    score: int | None = Field(default=None, ge=0, le=100)
    resolved: tuple[str, ...] = Field(
        default=(), description="Ids of earlier concerns (C1, C2) now settled."
    )
    seed_concern: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_may_ask_for_nothing(cls, said: Any) -> Any:
        if isinstance(said, dict) and said.get("verdict") == Decision.ACCEPT:
            step = said.get("next_step")
            return {**said, "next_step": None if is_nothing(step) else str(step)}
        return said

    @field_validator("verdict", mode="before")
    @classmethod
    def _reject_as_written(cls, value: Any) -> Any:
        return Decision.REJECT if _is_reject(value) else value

    @field_validator("evidence", "resolved", mode="before")
    @classmethod
    def _list_of_text(cls, value: Any) -> Any:
        return () if value is None else value

    @field_validator("rejection_category", mode="before")
    @classmethod
    def _category_as_written(cls, value: Any) -> Any:
        if is_nothing(value):
            return None
        if isinstance(value, str):
            return re.sub(r"[\s-]+", "_", value.strip("*_` ").casefold())
        return value

    @field_validator("probe", mode="before")
    @classmethod
    def _no_probe(cls, value: Any) -> Any:
        return None if is_nothing(value) else value

    @field_validator("score", mode="before")
    @classmethod
    def _number_as_written(cls, value: Any) -> Any:
        return None if value is None else _score(value)

    @model_validator(mode="after")
    def _hang_together(self) -> Verdict:
        if self.verdict is Decision.ACCEPT:
            if self.rejection_category is not None:
                raise ValueError("an accept must have rejection_category null")
            return self
        if self.rejection_category is None:
            raise ValueError(f"a reject needs a rejection_category, one of {_CATEGORIES}")
        if self.next_step is None:
            raise ValueError("a reject needs a next_step")
        if not self.concern.strip():
            raise ValueError("a reject needs a concern")
        return self


def _is_reject(value: Any) -> bool:
    return isinstance(value, str) and value.strip("*_` \n").casefold() in _REJECTS


def _score(value: Any) -> int:
    """Read a score as it was written; what stands behind the point is left out."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(_SCORE_RANGE)
    written = _SCORE.fullmatch(str(value)[:_LONGEST_SCORE])
    if written is None or float(written[1] + (written[2] or "")) > 100:
        raise ValueError(_SCORE_RANGE)
    return int(written[1])


_ABOUT = "Give your verdict, once; it is the only way to answer."
SUBMIT_VERDICT_AND_PROBE = ToolSpec.of("submit_verdict", _ABOUT, Verdict)


def _without_probe(spec: ToolSpec) -> ToolSpec:
    schema = dict(spec.input_schema)
    properties = {name: field for name, field in schema["properties"].items() if name != "probe"}
    return spec.model_copy(update={"input_schema": {**schema, "properties": properties}})


# For an evaluator that cannot look: what it cannot try out it should not write.
SUBMIT_VERDICT = _without_probe(SUBMIT_VERDICT_AND_PROBE)


def parse_verdict(
    turn: Turn, threshold: int, *, with_probe: bool = False, rules: Rules = NEWEST_RULES
) -> Verdict:
    """Read the one verdict of an answer, or raise Unreadable saying what was wrong."""
    if turn.was_cut:
        raise Unreadable("the answer was cut off before it was complete; answer more briefly")
    calls = turn.tool_calls
    if len(calls) != 1:
        raise Unreadable(f"call submit_verdict exactly once; this answer has {len(calls)} calls")
    if calls[0].name != SUBMIT_VERDICT.name:
        raise Unreadable(f"there is no tool {shortened(calls[0].name, 100)!r}; call submit_verdict")
    verdict = read_arguments(SUBMIT_VERDICT.name, Verdict, calls[0].arguments)
    if rules < Rules.EXCHANGE:
        score = score_before(unpacked(Verdict, calls[0].arguments).get("score"))
        verdict = verdict.model_copy(update={"score": score})
    elif not verdict.concern.strip():
        raise Unreadable("submit_verdict: concern is empty; say in one to three sentences why")
    if threshold and verdict.score is None:
        raise Unreadable("submit_verdict: score is required, a whole number from 0 to 100")
    if not with_probe:
        return verdict.model_copy(update={"probe": None})
    if verdict.probe and verdict.verdict is Decision.ACCEPT:
        raise Unreadable("submit_verdict: an accept carries no probe; reject, or leave it out")
    return verdict


def reject_in(turn: Turn) -> Verdict | None:
    """Give the reject an unreadable answer plainly is, with what it lacks filled in."""
    calls = turn.tool_calls
    if turn.was_cut or len(calls) != 1 or calls[0].name != SUBMIT_VERDICT.name:
        return None
    said = unpacked(Verdict, calls[0].arguments)
    if not isinstance(said, dict) or not _is_reject(said.get("verdict")):
        return None
    said = _readable_part(said)
    concern = _text(said.get("concern")) or _text(said.get("next_step")) or _NO_REASON
    return Verdict.model_validate(
        {
            **said,
            "concern": concern,
            "rejection_category": said.get("rejection_category")
            or RejectionCategory.ACCEPTANCE_GAP,
            "next_step": _text(said.get("next_step")) or concern,
        }
    )


def asks_despite_accept(turn: Turn) -> bool:
    """Tell an accept that names a change all the same: it contradicts itself, and is doubted."""
    calls = turn.tool_calls
    said = unpacked(Verdict, calls[0].arguments) if len(calls) == 1 else None
    if not isinstance(said, dict) or said.get("verdict") != Decision.ACCEPT:
        return False
    return not is_nothing(said.get("next_step"))


def _readable_part(said: dict[str, Any]) -> dict[str, Any]:
    """Give a verdict without the fields that cannot be read."""
    try:
        Verdict.model_validate(said)
    except ValidationError as error:
        unread = {fault["loc"][0] for fault in error.errors() if fault["loc"]}
        return {name: value for name, value in said.items() if name not in unread}
    return said


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


class LedgerEntry(Value):
    """Hold one verdict on one task, bound to what it judged."""

    # Given when it is recorded; ledgers of earlier versions have none.
    id: str = ""
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
    source: Literal["evaluator", "harness", "person"]
    # Missing in ledgers of earlier versions.
    probe: str | None = None
    proof: Proof | None = None
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
    def wants(self) -> str | None:
        """Say what it wants changed; an accept wants nothing, nor does praise below the bar."""
        if self.accepted:
            return None
        if self.below_threshold:
            return None if self.next_step == self.concern else self.next_step
        return self.concern

    @property
    def earns_bonus(self) -> bool:
        """Tell whether this rejection adds to the worker's iterations."""
        ruled = self.source == "evaluator" or self.parse_failed or self.is_probe_refusal
        return not self.accepted and ruled

    @property
    def counts_toward_cap(self) -> bool:
        return not self.accepted and self.source == "evaluator" and not self.parse_failed

    @property
    def is_probe_refusal(self) -> bool:
        """Tell whether the harness sent the case back because a probe still fails."""
        return self.source == "harness" and self.proof is Proof.PROVEN


class Judged(Value):
    """Name exactly what a verdict is about."""

    ts: str
    task_id: str
    iter: int
    tree: str
    diff_sha256: str
    validators: Mapping[str, Literal["passed", "failed"]]


def entry_of(
    verdict: Verdict, judged: Judged, *, model: str, threshold: int, proof: Proof | None = None
) -> LedgerEntry:
    """Make the ledger entry; an accept below the threshold is recorded as a reject."""
    below = bool(
        threshold and verdict.verdict is Decision.ACCEPT and (verdict.score or 0) < threshold
    )
    said = verdict.model_dump(exclude={"seed_concern"})
    if below:
        said["verdict"] = Decision.REJECT
        said["rejection_category"] = RejectionCategory.ACCEPTANCE_GAP
        # What the evaluator was asked for twice and did not name: its own words stand in for it.
        said["next_step"] = verdict.next_step or verdict.concern
    elif verdict.verdict is Decision.ACCEPT:
        said["next_step"] = None
    return LedgerEntry(
        **dict(judged),
        **said,
        source="evaluator",
        proof=proof,
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
    evidence: tuple[str, ...] = (),
    parse_failed: bool = False,
    model: str | None = None,
    probe: str | None = None,
) -> LedgerEntry:
    """Make the entry of a rejection that no evaluator gave."""
    return LedgerEntry(
        **dict(judged),
        verdict=Decision.REJECT,
        rejection_category=category,
        concern=concern,
        evidence=evidence,
        next_step=next_step,
        score=None,
        resolved=(),
        source="harness",
        probe=probe,
        proof=None if probe is None else Proof.PROVEN,
        parse_failed=parse_failed,
        below_threshold=False,
        model=model,
    )


def person_reject(judged: Judged, *, category: RejectionCategory, concern: str) -> LedgerEntry:
    """Make the entry of a person's reject."""
    entry = harness_reject(
        judged,
        category=category,
        concern=concern,
        next_step="Settle the operator's concern at its root.",
    )
    return entry.model_copy(update={"source": "person"})


def concern_id(index: int) -> str:
    """Name the concern of the ledger entry at a position, counted from 0."""
    return f"C{index + 1}"


def is_settled(index: int, later: Iterable[Sequence[str]]) -> bool:
    """Tell whether a later verdict names the concern at this position; other ids mean nothing."""
    return any(names(ids, concern_id(index)) for ids in later)


def names(ids: Sequence[str], name: str) -> bool:
    """Tell whether ids as a model wrote them hold this one."""
    return name in (said.strip().upper() for said in ids)

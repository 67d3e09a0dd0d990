"""The ruling: the evaluator's answer to a worker who says the contract cannot be met."""

from __future__ import annotations

from pydantic import ConfigDict, Field, ValidationError

from tilth.errors import Unreadable
from tilth.messages import ToolSpec, Turn
from tilth.values import Value, describe_faults


class Ruling(Value):
    """Say whether the contract is at fault, and why."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    contract_at_fault: bool = Field(strict=True)
    reason: str = Field(min_length=1, description="One to three sentences, concrete.")


SUBMIT_RULING = ToolSpec.of(
    "submit_ruling",
    "Rule whether the contract is at fault. Call it exactly once; it is the only way to answer.",
    Ruling,
)


def parse_ruling(turn: Turn) -> Ruling:
    """Read the one ruling of an answer, or raise Unreadable."""
    calls = turn.tool_calls
    if turn.was_cut or len(calls) != 1 or calls[0].name != SUBMIT_RULING.name:
        raise Unreadable("the answer is not exactly one complete submit_ruling call")
    try:
        ruling = Ruling.model_validate(calls[0].arguments)
    except ValidationError as error:
        raise Unreadable(f"submit_ruling: {describe_faults(error)}") from None
    if not ruling.reason.strip():
        raise Unreadable("submit_ruling: reason is empty")
    return ruling

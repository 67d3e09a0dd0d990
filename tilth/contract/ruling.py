"""The ruling: the evaluator's answer to a worker who says the contract cannot be met."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from tilth.base.errors import Unreadable
from tilth.base.values import Value
from tilth.contract.tool_arguments import read_arguments
from tilth.model.messages import ToolSpec, Turn


class Ruling(Value):
    """Say whether the contract is at fault, and why."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    reason: str = Field(min_length=1, description="One to three sentences, concrete.")
    contract_at_fault: bool = Field(strict=True)


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
    ruling = read_arguments(SUBMIT_RULING.name, Ruling, calls[0].arguments)
    if not ruling.reason.strip():
        raise Unreadable("submit_ruling: reason is empty")
    return ruling

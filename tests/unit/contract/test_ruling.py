"""The ruling: one complete call, or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.base.errors import Unreadable
from tilth.contract.ruling import SUBMIT_RULING, Ruling, parse_ruling
from tilth.model.messages import Turn, Usage

RULING = {"contract_at_fault": True, "reason": "Criteria 1 and 2 contradict each other."}


def call(arguments: Any, name: str = "submit_ruling", id: str = "c1") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def turn(*content: dict[str, Any], stop_reason: str = "tool_use") -> Turn:
    return Turn(content=content, stop_reason=stop_reason, usage=Usage(), model="m", latency_ms=1)


@pytest.mark.parametrize("at_fault", [True, False])
def test_a_ruling_is_read(at_fault: bool) -> None:
    ruled = parse_ruling(turn(call(RULING | {"contract_at_fault": at_fault, "extra": 1})))
    assert ruled == Ruling(contract_at_fault=at_fault, reason=RULING["reason"])


@pytest.mark.parametrize(
    "answer",
    [
        turn(),
        turn({"type": "text", "text": "The contract is at fault."}),
        turn(call(RULING), call(RULING, id="c2")),
        turn(call(RULING, name="submit_verdict")),
        turn(call(RULING), stop_reason="max_tokens"),
    ],
    ids=range(5),
)
def test_anything_but_one_complete_call_is_unreadable(answer: Turn) -> None:
    with pytest.raises(Unreadable, match="exactly one complete submit_ruling call"):
        parse_ruling(answer)


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        {},
        [],
        {"contract_at_fault": True},
        {"reason": "x"},
        RULING | {"contract_at_fault": "true"},
        RULING | {"contract_at_fault": 1},
        RULING | {"contract_at_fault": None},
        RULING | {"reason": ""},
        RULING | {"reason": " \n"},
        RULING | {"reason": None},
    ],
)
def test_a_ruling_of_another_shape_is_unreadable(arguments: Any) -> None:
    with pytest.raises(Unreadable, match="submit_ruling: "):
        parse_ruling(turn(call(arguments)))


def test_the_tool_asks_for_both_fields() -> None:
    assert SUBMIT_RULING.input_schema["required"] == ["reason", "contract_at_fault"]

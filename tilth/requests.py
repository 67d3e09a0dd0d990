"""Operator requests: questions and flags for a person, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import ConfigDict

from tilth.values import Value


class OperatorRequest(Value):
    """Hold one line of `operator-requests.jsonl`; an answer is a later line with the same id."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    ts: str
    request: str
    task_id: str | None
    kind: Literal["blocked", "below_bar", "answer"]
    text: str


def still_open(lines: Iterable[OperatorRequest]) -> tuple[OperatorRequest, ...]:
    """Give the questions nobody has answered; a flag needs no answer."""
    asked: dict[str, OperatorRequest] = {}
    for line in lines:
        if line.kind == "answer":
            asked.pop(line.request, None)
        elif line.kind == "blocked":
            asked[line.request] = line
    return tuple(asked.values())


def answers_for(lines: Iterable[OperatorRequest], task_id: str) -> tuple[str, ...]:
    """Give what a person has answered about one task, with what was asked."""
    asked: dict[str, OperatorRequest] = {}
    answers: list[str] = []
    for line in lines:
        if line.kind != "answer":
            asked[line.request] = line
        elif (question := asked.get(line.request)) and question.task_id == task_id:
            answers.append(f"Asked: {question.text} Answered: {line.text}")
    return tuple(answers)

"""Operator requests: questions and flags for a person, and the answers to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from pydantic import ConfigDict

from tilth.base.values import Value


class RequestKind(StrEnum):
    """Say what a person is asked or told of; the first needs an answer, the last is one."""

    BLOCKED = "blocked"
    BELOW_BAR = "below_bar"
    DONE_RED = "done_red"
    SEED_CONCERN = "seed_concern"
    ANSWER = "answer"


class OperatorRequest(Value):
    """Hold one line of `operator-requests.jsonl`; an answer is a later line with the same id."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    ts: str
    request: str
    task_id: str | None
    kind: RequestKind
    text: str


class Answered(Value):
    """Hold what was asked and what a person said to it."""

    question: str
    answer: str

    def line(self) -> str:
        return f"Asked: {self.question} Answered: {self.answer}"


def still_open(
    lines: Iterable[OperatorRequest], done: Collection[str] = ()
) -> tuple[OperatorRequest, ...]:
    """Give the questions nobody has answered; a flag needs no answer.

    `done` names tasks that were finished all the same: their questions have no point any more.
    """
    asked: dict[str, OperatorRequest] = {}
    for line in lines:
        if line.kind is RequestKind.ANSWER:
            asked.pop(line.request, None)
        elif line.kind is RequestKind.BLOCKED:
            asked[line.request] = line
    return tuple(line for line in asked.values() if line.task_id not in done)


def answers_for(lines: Iterable[OperatorRequest], task_id: str) -> tuple[str, ...]:
    """Give what a person has answered about one task, with what was asked, a line each."""
    return tuple(answered.line() for answered in answered_about(lines, task_id))


def answered_about(lines: Iterable[OperatorRequest], task_id: str) -> tuple[Answered, ...]:
    """Give what a person has answered about one task, with what was asked."""
    asked: dict[str, OperatorRequest] = {}
    answers: list[Answered] = []
    for line in lines:
        if line.kind is not RequestKind.ANSWER:
            asked[line.request] = line
        elif (question := asked.get(line.request)) and question.task_id == task_id:
            answers.append(Answered(question=question.text, answer=line.text))
    return tuple(answers)

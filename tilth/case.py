"""The case: the worker's claim that its task is done.

Reads a `submit_case` call strictly against the task, renders it for the evaluator, and never judges
whether the claim is true.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tilth.errors import Unreadable
from tilth.messages import ToolSpec
from tilth.prd import Task
from tilth.values import Value, describe_faults

ModelT = TypeVar("ModelT", bound=BaseModel)


class Coverage(Value):
    """Say where one acceptance criterion is met."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    criterion: str = Field(
        min_length=1, description="The criterion's text, or its number in the task, from 1."
    )
    addressed_by: str = Field(
        min_length=1,
        description="Where it is met, as `path/to/file.py:symbol`; several with commas between.",
    )
    evidence: str | None = Field(
        default=None, description="How you know: the test that shows it, the output you saw."
    )

    @field_validator("criterion", mode="before")
    @classmethod
    def _number_as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


class Case(Value):
    """Hold the worker's claim."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    summary: str = Field(min_length=1, description="One or two lines: what you changed and why.")
    ac_coverage: tuple[Coverage, ...] = Field(
        description="One item for each acceptance criterion of the task."
    )
    work_arounds: tuple[str, ...] = Field(
        default=(), description="Short cuts you took and would not want to hide."
    )
    uncertainties: tuple[str, ...] = Field(
        default=(), description="What you are not sure of; a reviewer should look here first."
    )
    learnings: tuple[str, ...] = Field(
        default=(), description="What this task taught you about the code base, for its owners."
    )

    @field_validator("work_arounds", "uncertainties", "learnings", mode="before")
    @classmethod
    def _null_as_none_given(cls, value: Any) -> Any:
        return () if value is None else value


class Blocker(Value):
    """Hold the worker's word that the contract cannot be met as written."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    reason: str = Field(min_length=1, description="Why the task cannot be met as it is written.")
    evidence: str | None = Field(
        default=None, description="What shows it: the two criteria, the test line, the error."
    )


SUBMIT_CASE = ToolSpec.of(
    "submit_case",
    "Hand in the task when every acceptance criterion is met and its tests pass. Checks run on "
    "what you leave in the worktree, then an independent reviewer reads the diff and this case. Be "
    "exact and honest: name short cuts and doubts. A rejection comes back as this call's result.",
    Case,
)

RAISE_BLOCKER = ToolSpec.of(
    "raise_blocker",
    "Say that the task cannot be met as written: criteria that contradict each other, an "
    "acceptance test that is wrong, a secret or service that is missing. Not for work that is "
    "merely hard. The reviewer rules on it; if the contract is at fault, a person is asked.",
    Blocker,
)


def parse_case(arguments: Any, task: Task, file_exists: Callable[[str], bool]) -> Case:
    """Read a case, or raise Unreadable saying exactly what is missing."""
    case = _validated(Case, arguments, SUBMIT_CASE.name)
    if not case.summary.strip():
        raise Unreadable("submit_case: summary is empty")
    problems = _uncovered(case, task) + _missing_files(case, file_exists)
    if problems:
        raise Unreadable("submit_case: " + "; ".join(problems))
    return case


def parse_blocker(arguments: Any) -> Blocker:
    """Read a blocker, or raise Unreadable."""
    blocker = _validated(Blocker, arguments, RAISE_BLOCKER.name)
    if not blocker.reason.strip():
        raise Unreadable("raise_blocker: reason is empty")
    return blocker


def _validated(model: type[ModelT], arguments: Any, tool: str) -> ModelT:
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        raise Unreadable(f"{tool}: {describe_faults(error)}") from None


def _uncovered(case: Case, task: Task) -> list[str]:
    claimed = {_loose(item.criterion) for item in case.ac_coverage}
    return [
        f"ac_coverage lacks criterion {number}: {criterion!r}"
        for number, criterion in enumerate(task.acceptance_criteria, start=1)
        if not claimed & _names_of(criterion, number)
    ]


def _names_of(criterion: str, number: int) -> set[str]:
    text = _loose(criterion)
    names = {str(number), f"#{number}", f"ac-{number}", f"ac{number}", text}
    return names | {f"{number}. {text}", f"{number}) {text}", f"ac-{number}: {text}"}


def _loose(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold().rstrip(".")


def _missing_files(case: Case, file_exists: Callable[[str], bool]) -> list[str]:
    problems = []
    for item in case.ac_coverage:
        paths = _paths(item.addressed_by)
        if not paths:
            problems.append(f"addressed_by names no file: {item.addressed_by!r}")
        problems += [
            f"addressed_by names a file that does not exist: {path!r}"
            for path in paths
            if not file_exists(path)
        ]
    return problems


def _paths(addressed_by: str) -> list[str]:
    first, *rest = addressed_by.split(",")
    # After a comma a bare word is one more symbol or argument (`a.py:f(x, y)`), not a file.
    named = [first, *(part for part in rest if any(mark in part for mark in ":/."))]
    return [path for part in named if (path := part.split(":", 1)[0].strip("` \t\r\n"))]


def render_case(case: Case) -> str:
    """Show a case to the evaluator; learnings are not for it."""
    lines = [f"Summary: {case.summary}", "", "Coverage of the acceptance criteria:"]
    for item in case.ac_coverage:
        lines.append(f"- {item.criterion}")
        lines.append(f"  addressed by: {item.addressed_by}")
        if item.evidence:
            lines.append(f"  evidence: {item.evidence}")
    lines += _listed("Work-arounds declared:", case.work_arounds)
    lines += _listed("Uncertainties declared:", case.uncertainties)
    return "\n".join(lines)


def _listed(heading: str, items: tuple[str, ...]) -> list[str]:
    if not items:
        return []
    return ["", heading, *(f"- {item}" for item in items)]

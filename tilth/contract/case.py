"""The case: the worker's claim that its task is done.

Reads a `submit_case` call against the task, lenient about how a claim is written and strict about
what it claims, renders it for the evaluator, and never judges whether it is true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ConfigDict, Field, field_validator

from tilth.base.errors import Unreadable
from tilth.base.generated import BYTECODE, CACHES, COMPILED_SUFFIXES
from tilth.base.values import Value
from tilth.contract.prd import Task
from tilth.contract.tool_arguments import read_arguments
from tilth.model.messages import ToolSpec

_LABEL = r"(?:(?:acceptance )?criteri(?:on|a)[\s#-]*|ac[\s#-]*|#)?"
# `2`, `#2`, `AC-2`, `criterion 2`, `1, 2`, `criteria 1 and 2`
_NUMBERS = re.compile(rf"{_LABEL}(\d+(?:\s*(?:,|and|&)\s*#?\d+)*)")
# `2: text`, `2. text`, `AC-2 - text`
_NUMBER_AND_TEXT = re.compile(rf"{_LABEL}(\d+)(?:\s*[.:)]\s*|\s+[-\u2013\u2014]\s+)(.+)")
# What stands behind a file's name to say where in it: `line 7`, `(Cart.total)`, `#L7-L9`
_PLACE = re.compile(r"\s*(?:#L?\d.*|\(.*|\b(?:at |on )?lines?\b.*)$", re.IGNORECASE)
# What a freeze leaves out by its name; some projects do track what node_modules holds.
_NEVER_HELD = frozenset((".git", BYTECODE, *CACHES)) - {"node_modules"}


class Coverage(Value):
    """Say where one acceptance criterion is met."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    criterion: str = Field(min_length=1, description="Its number in the task, from 1.")
    addressed_by: str = Field(
        min_length=1, description="Where it is met, `<file>:<symbol>`; commas between several."
    )
    evidence: str | None = Field(
        default=None, description="The test that shows it, the output you saw."
    )

    @field_validator("criterion", mode="before")
    @classmethod
    def _number_as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("addressed_by", mode="before")
    @classmethod
    def _several_as_text(cls, value: Any) -> Any:
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return ", ".join(value)
        return value


class Case(Value):
    """Hold the worker's claim."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    summary: str = Field(min_length=1, description="One or two lines: what you changed and why.")
    ac_coverage: tuple[Coverage, ...] = Field(description="One item for each criterion.")
    work_arounds: tuple[str, ...] = Field(
        default=(),
        description="What you touched outside the criteria and why; short cuts you took.",
    )
    uncertainties: tuple[str, ...] = Field(
        default=(), description="Each doubt, and what you chose in spite of it."
    )
    learnings: tuple[str, ...] = Field(
        default=(), description="What its owners should know about this code base."
    )


class Blocker(Value):
    """Hold the worker's word that the contract cannot be met as written."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    reason: str = Field(min_length=1, description="Why it cannot be met.")
    evidence: str | None = Field(
        default=None, description="The two criteria, the test line, the error."
    )


SUBMIT_CASE = ToolSpec.of(
    "submit_case",
    "Hand in the task when every criterion is met. Checks run on the files as they stand, then an "
    "evaluator reads the diff and this case. A rejection comes back as this call's result.",
    Case,
)

RAISE_BLOCKER = ToolSpec.of(
    "raise_blocker",
    "Say that the task cannot be met as written: contradicting criteria, a wrong acceptance test, "
    "a missing secret or service. Not for work that is merely hard. The evaluator rules on it.",
    Blocker,
)


# What ends an answer of the worker: it is heard after all other calls.
CONTROL_TOOLS = frozenset({SUBMIT_CASE.name, RAISE_BLOCKER.name})


def parse_case(arguments: Any, task: Task, file_exists: Callable[[str], bool]) -> Case:
    """Read a case, or raise Unreadable saying exactly what is missing."""
    case = read_arguments(SUBMIT_CASE.name, Case, arguments)
    if not case.summary.strip():
        raise Unreadable("submit_case: summary is empty")
    problems = _uncovered(case, task) + _missing_files(case, file_exists)
    if problems:
        raise Unreadable("submit_case: " + "; ".join(problems))
    return case


def parse_blocker(arguments: Any) -> Blocker:
    """Read a blocker, or raise Unreadable."""
    blocker = read_arguments(RAISE_BLOCKER.name, Blocker, arguments)
    if not blocker.reason.strip():
        raise Unreadable("raise_blocker: reason is empty")
    return blocker


def _uncovered(case: Case, task: Task) -> list[str]:
    criteria = task.acceptance_criteria
    claimed = {number for item in case.ac_coverage for number in claimed_in(item, criteria)}
    return [
        f"ac_coverage lacks criterion {number}: {criterion!r}"
        for number, criterion in enumerate(criteria, start=1)
        if number not in claimed
    ]


def claimed_in(claim: Coverage, criteria: Sequence[str]) -> tuple[int, ...]:
    """Number the criteria, from 1, that a claim names: by their text, else by their numbers."""
    text, known = _loose(claim.criterion), [_loose(criterion) for criterion in criteria]
    found = _by_text(text, known) or _by_number(text, known)
    return tuple(sorted(number for number in found if 1 <= number <= len(known)))


def _by_number(text: str, known: list[str]) -> set[int]:
    numbers = _NUMBERS.fullmatch(text)
    if numbers is not None:
        return {int(number) for number in re.findall(r"\d+", numbers[1])}
    both = _NUMBER_AND_TEXT.fullmatch(text)
    if both is None:
        return set()
    # A number beside the text of another criterion is the slip, the text is what was meant.
    return _by_text(both[2], known) or {int(both[1])}


def _by_text(text: str, known: list[str]) -> set[int]:
    return {number for number, criterion in enumerate(known, start=1) if criterion == text}


def _loose(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold().rstrip(".")


def _missing_files(case: Case, file_exists: Callable[[str], bool]) -> list[str]:
    problems = []
    for item in case.ac_coverage:
        paths = _paths(item.addressed_by)
        if not paths:
            problems.append(f"addressed_by names no file: {item.addressed_by!r}")
        for path in paths:
            if _leads_out(path):
                problems.append(f"addressed_by names a file outside the worktree: {path!r}")
            elif _enters_no_change(_PLACE.sub("", path)):
                said = "addressed_by names a file that is never part of a change"
                problems.append(f"{said}: {path!r}")
            elif not file_exists(path) and not _exists_without_place(path, file_exists):
                problems.append(f"addressed_by names a file that does not exist: {path!r}")
    return problems


def _leads_out(path: str) -> bool:
    return path.startswith(("/", "~")) or ".." in path.replace("\\", "/").split("/")


def _enters_no_change(path: str) -> bool:
    parts = path.replace("\\", "/").split("/")
    is_compiled = path.encode(errors="replace").endswith(COMPILED_SUFFIXES)
    return is_compiled or any(part.casefold() in _NEVER_HELD for part in parts)


def _exists_without_place(path: str, file_exists: Callable[[str], bool]) -> bool:
    bare = _PLACE.sub("", path)
    return bool(bare) and bare != path and file_exists(bare)


def _paths(addressed_by: str) -> list[str]:
    first, *rest = addressed_by.split(",")
    # After a comma a bare word is one more symbol or argument (`a.py:f(x, y)`), not a file.
    named = [first, *(part for part in rest if any(mark in part for mark in ":/."))]
    found = (part.split(":", 1)[0].replace("`", " ").strip() for part in named)
    # `cart.py, lines 7-9.` names one file and a place in it.
    return [path for path in found if _PLACE.sub("", path)]


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

"""The approval: what a person is shown before a seed is written, and what they may say to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from tilth.base.values import Value
from tilth.contract.prd import Task

Criteria = Mapping[str, tuple[str, ...]]


class SeedView(Value):
    """Hold a proven seed as a person reads it.

    `before` is what they last saw or wrote, by task; None at the first sight. A seeder that has no
    turn left can change nothing any more.
    """

    tldr: str
    tasks: tuple[Task, ...]
    scope_notes: str = ""
    open_questions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    review: str = ""
    before: Criteria | None = None
    can_change: bool = True


class Approved(Value):
    """Say that the seed may be written."""


class ChangeWanted(Value):
    """Say in a person's own words what is to be different."""

    text: str


class SheetTask(Value):
    """Hold one task as a person wrote it: its title and criteria."""

    id: str
    title: str
    criteria: tuple[str, ...]

    @classmethod
    def of(cls, task: Task) -> SheetTask:
        return cls(id=task.id, title=task.title, criteria=task.acceptance_criteria)


class Rewritten(Value):
    """Hold the criteria as a person rewrote them, all tasks of the plan."""

    tasks: tuple[SheetTask, ...]


class WentBack(Value):
    """Say that a person answers an earlier question anew, instead of what was asked now."""

    question: str
    answer: str


Approval = Approved | ChangeWanted | Rewritten | WentBack


@runtime_checkable
class Approver(Protocol):
    """Show a seed to a person before it is written. A frontend may be one."""

    def approve(self, seed: SeedView) -> Approval:
        """Give what the person says; KeyboardInterrupt when they want to stop."""
        ...

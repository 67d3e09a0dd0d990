"""The status of a task: where it can stand, which moves are legal, and what one given up holds."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol


class Status(StrEnum):
    """Say where a task stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    PENDING_EVAL = "pending_eval"
    ACCEPTED = "accepted"
    DONE = "done"
    FAILED = "failed"


# Forward by the harness; back to pending by a resume, a fresh start or a person's reject; from
# failed to done by a person's accept; from anywhere but done to failed by a person's drop.
# Accepted is where a task waits for its turn to land.
LEGAL_MOVES: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.IN_PROGRESS, Status.FAILED}),
    Status.IN_PROGRESS: frozenset({Status.PENDING_EVAL, Status.FAILED, Status.PENDING}),
    Status.PENDING_EVAL: frozenset(
        {Status.DONE, Status.ACCEPTED, Status.IN_PROGRESS, Status.FAILED}
    ),
    Status.ACCEPTED: frozenset({Status.DONE, Status.IN_PROGRESS, Status.PENDING, Status.FAILED}),
    Status.DONE: frozenset({Status.PENDING}),
    Status.FAILED: frozenset({Status.PENDING, Status.DONE, Status.FAILED}),
}


class Planned(Protocol):
    """Be as much of a task as tells what it needs."""

    @property
    def id(self) -> str: ...

    @property
    def depends_on(self) -> tuple[str, ...]: ...

    @property
    def dropped(self) -> bool: ...


def held_in(tasks: Sequence[Planned]) -> frozenset[str]:
    """Name the tasks that were given up, and all that depend on one of them."""
    held = {task.id for task in tasks if task.dropped}
    while more := {t.id for t in tasks if t.id not in held and not held.isdisjoint(t.depends_on)}:
        held |= more
    return frozenset(held)

"""The lanes: what the loop works at where several tasks are worked on at the same time.

A lane is one task with a bench of its own; who makes them is the session's business. Protocols and
values, no thread and no decision.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from tilth.contract.outcomes import Fresh
from tilth.contract.prd import Task
from tilth.task.attempt import Accepted, Attempt
from tilth.task.bench import Bench
from tilth.task.dropping import Place


@dataclass
class LaneWork:
    """Hold one task at its bench; without an attempt it is still to begin, on `base`."""

    bench: Bench
    task: Task
    base: str | None = None
    why: Fresh | None = None
    attempt: Attempt | None = None


LandingTurn = AbstractContextManager[tuple[Bench, Attempt, Accepted]]


class Lanes(Protocol):
    """Give every task its lane, and the one whose turn it is the way into the branch."""

    @property
    def jobs(self) -> int: ...

    @property
    def landing(self) -> frozenset[str]:
        """Name the task that is being landed, if one is."""

    def at(self, task: Task) -> LaneWork:
        """Give a task its lane: the one it had, or one that is made on its base."""

    def place_of(self, task_id: str) -> Place:
        """Give the worktree of a task that nobody is at work on."""

    def turn_of(self, task: Task) -> LandingTurn:
        """Give an accepted task its turn: the bench at which it lands, while it does."""


@dataclass(frozen=True)
class Work:
    """Hold what there is to work at: a bench with the task that goes on there, or lanes."""

    bench: Bench
    attempt: Attempt | None = None
    lanes: Lanes | None = None

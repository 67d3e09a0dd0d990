"""Moves: how often each task has begun, come to its landing and failed, so far in a log.

Where several tasks are worked on at once, a person's verdict on one at rest changes which of them
come next. Its place among them is told by the moves before it; who was quicker does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum

from tilth.log.events import Committed, ContextReset, Event, LandingRefused, PromptAssembled
from tilth.model.messages import Role


class Move(StrEnum):
    """Name what moves a plan on."""

    BEGUN = "begun"
    TURN = "turn"
    FAILED = "failed"


Made = Mapping[tuple[Move, str], int]


class Moves:
    """Count the moves of one log as it is read or written."""

    def __init__(self) -> None:
        self._made: Counter[tuple[Move, str]] = Counter()
        self._opening: set[str] = set()

    @property
    def made(self) -> Made:
        """Give the counts as they are now."""
        return dict(self._made)

    def take(self, event: Event) -> None:
        """Count an event, if it is a move."""
        task_id = event.task_id or ""
        match event.payload:
            # A kill may come between the beginning and its first message: then it begins again.
            case ContextReset() if task_id not in self._opening:
                self._opening.add(task_id)
                self._made[Move.BEGUN, task_id] += 1
            case PromptAssembled(role=Role.WORKER):
                self._opening.discard(task_id)
            case Committed(kind="failed"):
                self._made[Move.FAILED, task_id] += 1
            case Committed() | LandingRefused():
                self._made[Move.TURN, task_id] += 1

    def has(self, others: Made) -> bool:
        """Tell whether all of other moves have been made here too."""
        return all(self._made[move] >= times for move, times in others.items())

    def is_among(self, others: Made, move: Move, task_id: str) -> bool:
        """Tell whether the next such move is one of those others."""
        return self._made[move, task_id] < others.get((move, task_id), 0)

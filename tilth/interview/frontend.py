"""The frontend: how an interview reaches the person it is for.

The engine knows this protocol alone; a terminal, a file of answers and a test's script stand
behind it alike. One that is an `Approver` too is shown the seed before it is written.
"""

from __future__ import annotations

from typing import Protocol

from tilth.base.values import Value
from tilth.interview.approval import WentBack
from tilth.interview.question import Question
from tilth.task.budget import Meter


class SeedSummary(Value):
    """Hold what an interview came to, for the person who was asked."""

    session: str
    branch: str
    tldr: str
    tasks: tuple[tuple[str, str, int], ...]
    tests: int
    # The plan's shape: what could be worked on at once, and what may collide.
    graph: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    scope_notes: str = ""
    review: str = ""
    next_command: str


class InterviewFrontend(Protocol):
    """Ask a person, and show them what came of it."""

    def ask(self, question: Question) -> str | WentBack:
        """Give the answer, or a new one to an earlier question.

        KeyboardInterrupt when the person wants to stop.
        """
        ...

    def update_tokens(self, meter: Meter, turns: int) -> None:
        """Say what has been spent after an answer of the seeder."""
        ...

    def show_summary(self, summary: SeedSummary) -> None:
        """Show the finished seed."""
        ...

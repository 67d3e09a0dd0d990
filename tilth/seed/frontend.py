"""The frontend: how an interview reaches the person it is for.

The engine knows this protocol alone; a terminal, a file of answers and a test's script stand
behind it alike.
"""

from __future__ import annotations

from typing import Protocol

from tilth.budget import Meter
from tilth.seed.question import Question
from tilth.values import Value


class SeedSummary(Value):
    """Hold what an interview came to, for the person who was asked."""

    session: str
    branch: str
    tldr: str
    tasks: tuple[tuple[str, str, int], ...]
    tests: int
    open_questions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    scope_notes: str = ""
    review: str = ""
    next_command: str


class InterviewFrontend(Protocol):
    """Ask a person, and show them what came of it."""

    def ask(self, question: Question) -> str:
        """Give the answer; KeyboardInterrupt when the person wants to stop."""
        ...

    def update_tokens(self, meter: Meter, turns: int) -> None:
        """Say what has been spent after an answer of the seeder."""
        ...

    def show_summary(self, summary: SeedSummary) -> None:
        """Show the finished seed."""
        ...

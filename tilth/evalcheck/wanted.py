"""What a check is to play: which changes, how many of them and how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tilth.base.errors import UserError
from tilth.config.settings import Settings
from tilth.evalcheck.cases import CaseProblem, load_suite
from tilth.evalcheck.history import spoken_on
from tilth.evalcheck.order import in_turn, questions
from tilth.evalcheck.question import Question

SHIPPED, HISTORY = "shipped", "history"


@dataclass(frozen=True)
class Wanted:
    """Hold what the user asked for: a suite, or what people have ruled on; all or so many."""

    suite: Path | None = None
    history: bool = False
    limit: int | None = None
    repeat: int = 1
    reviewer: str | None = None

    @property
    def source(self) -> str:
        """Name where the changes come from, for the record."""
        if self.history:
            return HISTORY
        return str(self.suite.resolve()) if self.suite else SHIPPED


@dataclass
class Check:
    """Hold one check: what it asks, and what of it turned out to be broken."""

    wanted: Wanted
    asked: Sequence[Question]
    is_limited: bool
    problems: list[CaseProblem] = field(default_factory=list)

    @property
    def turns(self) -> tuple[tuple[Question, int], ...]:
        """Give every question with the round it is asked in, in the order of asking."""
        rounds = range(1, self.wanted.repeat + 1)
        return tuple((question, number) for number in rounds for question in self.asked)

    @property
    def is_whole(self) -> bool:
        """Tell whether all there is was asked; what people ruled on is never all there is."""
        return not (self.is_limited or self.problems or self.wanted.history)

    def broken(self, question: Question, why: str) -> CaseProblem:
        """Note a change that cannot be judged."""
        problem = CaseProblem(case=question.case, what=why)
        self.problems.append(problem)
        return problem


def gather(settings: Settings, wanted: Wanted) -> Check:
    """Find the changes that are wanted; raise UserError where there is none."""
    if wanted.history and wanted.suite is not None:
        raise UserError("--suite and --history exclude each other: give one of them")
    found, problems = _history(settings) if wanted.history else _suite(wanted.suite)
    asked = found[: wanted.limit]
    return Check(wanted, asked, len(asked) < len(found), problems)


def _suite(folder: Path | None) -> tuple[Sequence[Question], list[CaseProblem]]:
    if folder is not None and not folder.is_dir():
        raise UserError(f"--suite {folder}: no such directory; see docs/eval-suite.md")
    suite = load_suite(folder)
    if folder is not None and [problem.case for problem in suite.problems] == [str(folder)]:
        raise UserError(f"--suite {folder}: holds no case; see docs/eval-suite.md")
    return questions(suite.cases), list(suite.problems)


def _history(settings: Settings) -> tuple[Sequence[Question], list[CaseProblem]]:
    found, problems = spoken_on(settings)
    if not found and not problems:
        raise UserError(
            f"no person has ruled on a tree in {settings.sessions_dir}: "
            "`tilth accept` and `tilth reject` do; or leave --history out"
        )
    rights = [question for question in found if question.is_right]
    wrongs = [question for question in found if not question.is_right]
    return tuple(in_turn(rights, wrongs)), problems

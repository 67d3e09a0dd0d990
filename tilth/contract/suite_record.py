"""What a project's own tests did on one tree, as the log keeps it. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from pydantic import ConfigDict

from tilth.base.values import Value


class NotRun(StrEnum):
    """Say why a project's own tests are not run."""

    NO_TESTS = "no_tests"
    NOT_COLLECTED = "not_collected"
    NO_REPORT = "no_report"
    TOO_SLOW = "too_slow"

    def words(self) -> str:
        """Say it to a person."""
        return _WHY_NOT[self]


_WHY_NOT = {
    NotRun.NO_TESTS: "the project has no tests of its own",
    NotRun.NOT_COLLECTED: "the project's own tests cannot be collected on the base",
    NotRun.NO_REPORT: "the project's own tests end the test process on the base",
    NotRun.TOO_SLOW: "the project's own tests take longer than a validator may",
}


class SuiteRecord(Value):
    """Hold what a project's own tests did on one tree, or why they are not run.

    `passed` are the functions that passed, by their file, `cases` how often those did that are run
    several times. `support` are the files that tests of the base stand on, `skips` the reasons
    why most tests were skipped.
    """

    # Earlier versions wrote more of a run.
    model_config = ConfigDict(frozen=True, extra="ignore")

    tree: str
    red: tuple[str, ...] = ()
    passed: Mapping[str, tuple[str, ...]] = {}
    cases: Mapping[str, int] = {}
    support: tuple[str, ...] = ()
    skips: Mapping[str, int] = {}
    not_run: NotRun | None = None

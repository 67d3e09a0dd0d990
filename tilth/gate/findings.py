"""What the validators found: on the untouched base, and on the tree a case was made for.

Values and their wording for worker and evaluator. Never runs anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tilth.base.values import Value
from tilth.contract.suite_record import SuiteRecord
from tilth.gate.challenged import Challenged

Ending = Literal["passed", "failed", "error", "skipped", "xfailed"]

_MOST_NAMED = 30
_LEFT_OUT = (
    "The seed tests were not run by the gate, neither before the change nor on it: the project's "
    "configuration takes the place of its default validators. Nothing shows that they were red or "
    "that they are green, unless a validator of the project says so above."
)
_NO_CHECK = (
    "No mechanical check was run on this change: the project's configuration leaves out the "
    "default validators and names none of its own."
)


class ValidatorReport(Value):
    """Hold how one validator went; `tests` counts pytest's results by kind.

    `suite` is there when the project's own tests were run on exactly this tree.
    """

    name: str
    passed: bool
    exit_code: int | None
    output: str
    duration_ms: int
    tests: Mapping[str, int] | None = None
    suite: SuiteRecord | None = None


class NodeResult(Value):
    """Hold how one test, or the collection of one file, ended; `error` is the exception's name.

    `place` is the last line of the project it came through, `owner` the project's file that holds
    what an attribute was missing from.
    """

    node: str
    ending: Ending
    error: str | None = None
    message: str | None = None
    place: str | None = None
    owner: str | None = None

    @property
    def is_red(self) -> bool:
        return self.ending in ("failed", "error")

    def line(self) -> str:
        why = f" ({self.error}: {self.message})" if self.error else ""
        return f"{self.node}: {self.ending}{why}"


class Baseline(Value):
    """Hold what is true of the base before the worker starts.

    `report` and `results` are about this task's seed tests; a task without any has no report.
    `stays` are those that are green as they are to be. `red_elsewhere` and `skipped` name tests
    that the worker is not blamed for. `violations` counts ruff's findings by `path|code|message`.
    `suite` is what the project's own tests did, and `suite_report` how they went if they were run
    for this baseline. `support` are the files that all these tests stand on. Where the project's
    configuration takes the place of the gate's own run, `seeds_left_out` is true.
    """

    report: ValidatorReport | None = None
    results: tuple[NodeResult, ...] = ()
    already_green: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    red_elsewhere: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    violations: Mapping[str, int] = {}
    suite: SuiteRecord | None = None
    suite_report: ValidatorReport | None = None
    support: tuple[str, ...] = ()
    seeds_left_out: bool = False

    @property
    def was_green(self) -> bool:
        """Tell whether all of this task's seed tests passed before any work was done."""
        return self.report is not None and self.report.passed

    def render(self) -> str:
        """Say what the seed tests did on the untouched base."""
        if self.seeds_left_out:
            return _LEFT_OUT
        if self.report is None:
            return "This task has no seed test: nothing was red before the work."
        red = [result.line() for result in self.results if result.is_red]
        lines = [f"Red on the untouched base: {len(red)}.", *_listed(red)]
        if self.already_green:
            count = len(self.already_green)
            lines.append(f"Already green there, so they prove nothing about the change: {count}.")
            lines += _listed(self.already_green)
        if self.stays:
            lines.append(f"Green there, to stay so, as their criterion asks: {len(self.stays)}.")
            lines += _listed(self.stays)
        if self.red_elsewhere:
            count = len(self.red_elsewhere)
            lines.append(f"Red there already, though their tasks are done: {count}.")
            lines += _listed(self.red_elsewhere)
        if not red and not self.already_green and not self.stays:
            lines.append(f"The seed tests gave no result there:\n{self.report.output.strip()}")
        return "\n".join(lines)


class Steering(Value):
    """Name what steers a gate and is not as it was: changed by this case, or `earlier`."""

    files: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.earlier)


class Validation(Value):
    """Hold what the validators say about one tree; `tampered` are paths the gate put right.

    What is noted of the `steering` stands among the notes too.
    """

    reports: tuple[ValidatorReport, ...]
    tampered: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    steering: Steering = Steering()
    challenges: tuple[Challenged, ...] = ()

    @property
    def passed(self) -> bool:
        return all(report.passed for report in self.reports)

    @property
    def summary(self) -> dict[str, Literal["passed", "failed"]]:
        return {report.name: "passed" if report.passed else "failed" for report in self.reports}

    def render(self) -> str:
        """Write the whole of it for worker and evaluator."""
        parts = []
        if self.notes:
            parts.append("Notes on the change:\n" + "\n".join(f"- {note}" for note in self.notes))
        for report in self.reports:
            heading = f"## {report.name}: {'passed' if report.passed else 'FAILED'}"
            parts.append(f"{heading}\n{report.output.strip()}".strip())
        if not self.reports:
            parts.append(_NO_CHECK)
        return "\n\n".join(parts)


def _listed(items: tuple[str, ...] | list[str]) -> list[str]:
    more = [f"- … and {len(items) - _MOST_NAMED} more"] if len(items) > _MOST_NAMED else []
    return [f"- {item}" for item in items[:_MOST_NAMED]] + more

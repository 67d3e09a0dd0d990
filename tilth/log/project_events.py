"""Events about the project a session works on, as the gate and the worker are given it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from tilth.base.values import Value
from tilth.gate.findings import Baseline, ValidatorReport
from tilth.log.envelope import Payload


class CarriedFile(Value):
    """Name a file that git ignores and that the session carries."""

    path: str
    bytes: int
    sha256: str


class Carried(Payload):
    """Tell what worktrees and exports are given beside the files of a tree.

    `sha256` is the hash of all of it, `too_much` what would have been more than the limit.
    """

    synced: ClassVar[bool] = True
    sparse: ClassVar[tuple[str, ...]] = ("too_much",)
    type: Literal["carried"] = "carried"
    files: tuple[CarriedFile, ...]
    sha256: str
    too_much: tuple[str, ...] = ()


class Preflighted(Payload):
    """Tell what was proven before a model was paid: what the tasks' tests do on the base.

    `tree` is the seed's, on which the results hold, and `baselines` are by task, without what is
    the same for all: `violations`, and the `suite` with its report. `carried` is the hash of what
    was carried, `notes` what is to be told.
    """

    synced: ClassVar[bool] = True
    type: Literal["preflight"] = "preflight"
    tree: str
    carried: str
    baselines: Mapping[str, Baseline]
    violations: Mapping[str, int] = {}
    suite_report: ValidatorReport | None = None
    notes: tuple[str, ...] = ()

    def baseline(self, task_id: str, tree: str) -> Baseline | None:
        """Give what is known of a task's base, if it is of that tree."""
        known = self.baselines.get(task_id) if tree == self.tree else None
        if known is None:
            return None
        report = self.suite_report
        suite = report.suite.model_copy(update={"tree": tree}) if report and report.suite else None
        if report is not None:
            report = report.model_copy(update={"suite": suite})
        own = {"violations": self.violations, "suite": suite, "suite_report": report}
        support = {*known.support, *(suite.support if suite else ())}
        return known.model_copy(update={**own, "support": tuple(sorted(support))})

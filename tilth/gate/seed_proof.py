"""What one tree is proven with, and how the run of its seed tests is measured. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from tilth.contract.prd import Task
from tilth.gate.challenged import more
from tilth.gate.findings import Baseline, ValidatorReport
from tilth.gate.overlay import Overlay, Seeds, Trees
from tilth.gate.passing import PytestRun, complaints, proves_nothing, run_faults, unforgiven
from tilth.gate.pristine import file_of
from tilth.gate.pytest_config import PytestSetup, pytest_setup
from tilth.gate.pytest_run import PytestEnd
from tilth.gate.reports import no_report, report_of
from tilth.gate.staying import staying_nodes

PYTEST = "pytest"
_MOST_LINES = 200


@dataclass(frozen=True)
class Proof:
    """Hold what one tree is proven with."""

    task: Task
    base: str
    tree: str
    seeds: Seeds
    trees: Trees
    overlay: Overlay

    def setup(self, *, selects: bool = False) -> PytestSetup:
        """Take pytest's configuration from the base, or from the tree where the task may.

        `selects` keeps what the configuration says about which tests run.
        """
        texts = [content.decode("utf-8", "replace") for content in self.seeds.run.values()]
        return pytest_setup(self.read, texts, selects=selects)

    def read(self, path: str) -> bytes | None:
        """Read a file that steers the gate."""
        return self.trees.read_steering(path, self.task.may_change)


@dataclass(frozen=True)
class Judgement:
    """Hold what a run of seed tests is measured by."""

    own: tuple[str, ...]
    done: tuple[str, ...]
    baseline: Baseline

    @classmethod
    def of(cls, seeds: Seeds, baseline: Baseline) -> Judgement:
        return cls(tuple(seeds.own), tuple(seeds.done), baseline)

    def problems(self, run: PytestRun) -> list[str]:
        """Say what keeps the run from passing."""
        before = self.baseline
        own = complaints(run, self.own, before.skipped)
        done = complaints(run, self.done, before.skipped)
        fresh = unforgiven(done, before.red_elsewhere)
        lines = [*run_faults(run), *own.values()]
        for node, why in done.items():
            since = "" if node in fresh else "; red before this one began, it must be mended too"
            lines.append(f"{why} (it belongs to a task that is done{since})")
        if self.own and not own and proves_nothing(run, self.own):
            lines.append("not one test of this task passed: nothing is proven")
        return lines

    def report(self, end: PytestEnd, timeout_s: float) -> ValidatorReport:
        """Word how the run went."""
        finished, run = end.finished, end.run
        if run is None:
            said = f"{no_report(PYTEST, finished, timeout_s)}\n{finished.output}"
            return report_of(PYTEST, False, finished, said)
        problems = self.problems(run)
        parts = [*problems[:_MOST_LINES], *more(problems, _MOST_LINES)]
        output = "\n".join([*parts, "", finished.output]) if parts else finished.output
        return report_of(PYTEST, not problems, finished, output, run.counts())


def base_report(end: PytestEnd, seeds: Seeds, timeout_s: float) -> ValidatorReport | None:
    """Word how this task's own tests went on the untouched base."""
    if not seeds.own:
        return None
    return Judgement(tuple(seeds.own), (), Baseline()).report(end, timeout_s)


def baseline_of(
    seeds: Seeds,
    report: ValidatorReport | None,
    run: PytestRun | None,
    red_elsewhere: tuple[str, ...],
    violations: dict[str, int],
) -> Baseline:
    """Gather what is true of the base."""
    results = run.results if run else ()
    own = tuple(result for result in results if file_of(result.node) in seeds.own)
    stays = staying_nodes(run, seeds.own)
    green = tuple(result.node for result in own if result.ending == "passed")
    return Baseline(
        report=report,
        results=own,
        already_green=tuple(node for node in green if node not in stays),
        stays=stays,
        red_elsewhere=red_elsewhere,
        skipped=tuple(r.node for r in results if r.ending in ("skipped", "xfailed")),
        violations=violations,
    )

"""What passing means for pytest: pure decisions on what one run reported.

The report is read, the printed text is not. Every seed test that stands in the pristine file must
have run, and none may have failed, or been skipped, deselected or expected to fail, unless the
mark or the line of that very test says so, or it was so on the base.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import get_args

from tilth.base.values import Value
from tilth.gate.findings import Ending, NodeResult
from tilth.gate.pristine import SeedReading, file_of, function_of
from tilth.gate.support_files import support_files

_OK, _TESTS_FAILED = 0, 1
_PLURAL = {"error": "errors"}
_MOST_REASONS = 5
_STATUS = {
    2: "pytest was interrupted",
    3: "pytest had an internal error, or the code under test tried to end the process",
    4: "pytest could not start with this project's configuration",
    5: "pytest found no test",
}


class PytestRun(Value):
    """Hold the report of one pytest run; `seeds` are its files as the interpreter read them.

    `reads` and `writes` are pairs of a file, "" for pytest, and what it opened, if the run was
    watched.
    `missing` says why there is no pytest.
    """

    status: int
    collected: tuple[str, ...] = ()
    deselected: tuple[str, ...] = ()
    results: tuple[NodeResult, ...] = ()
    seeds: Mapping[str, SeedReading] = {}
    reads: tuple[tuple[str, str], ...] = ()
    writes: tuple[tuple[str, str], ...] = ()
    missing: str | None = None

    @property
    def support(self) -> frozenset[str]:
        """Give the files that the tests stand on."""
        return support_files(self.reads, self.collected)

    def skip_reasons(self) -> dict[str, int]:
        """Count the most frequent reasons why tests were skipped."""
        said = (r.message or "no reason" for r in self.results if r.ending == "skipped")
        return dict(Counter(said).most_common(_MOST_REASONS))

    def counts(self) -> dict[str, int]:
        """Count the results by kind."""
        kinds = Counter(result.ending for result in self.results)
        named = {_PLURAL.get(kind, kind): kinds[kind] for kind in get_args(Ending)}
        return {"collected": len(self.collected), "deselected": len(self.deselected), **named}


def complaints(
    run: PytestRun, files: Iterable[str], skipped_before: Collection[str] = ()
) -> dict[str, str]:
    """Say for each test that does not pass why; the key is its node, or that of its whole file."""
    found: dict[str, str] = {}
    for path in files:
        reading = run.seeds.get(path, SeedReading())
        own = {result.node: result for result in run.results if file_of(result.node) == path}
        found.update(_results(reading, own, skipped_before))
        if path not in own:
            found.update(_unheard(path, reading, run, own))
    return found


def unforgiven(found: Mapping[str, str], red_before: Collection[str]) -> dict[str, str]:
    """Leave out what was red on the base already: the node, its function or its whole file."""
    red = set(red_before)
    return {
        node: why
        for node, why in found.items()
        if red.isdisjoint({node, node.partition("[")[0], node.partition("::")[0]})
    }


def run_faults(run: PytestRun) -> list[str]:
    """Say what is wrong with a run as a whole, whatever its tests say."""
    faults = []
    if run.status not in (_OK, _TESTS_FAILED):
        faults.append(_STATUS.get(run.status, f"pytest ended with exit status {run.status}"))
    if run.status == _TESTS_FAILED and not any(result.is_red for result in run.results):
        faults.append("pytest reported a failure that no test explains")
    return faults


def proves_nothing(run: PytestRun, files: Collection[str]) -> bool:
    """Tell whether not one test of these files passed."""
    passed = (result.node for result in run.results if result.ending == "passed")
    return not any(file_of(node) in files for node in passed)


def _results(
    reading: SeedReading, own: Mapping[str, NodeResult], skipped_before: Collection[str]
) -> dict[str, str]:
    return {
        node: result.line()
        for node, result in own.items()
        if result.ending != "passed"
        if result.is_red or not (node in skipped_before or reading.excuses(result))
    }


def _unheard(
    path: str, reading: SeedReading, run: PytestRun, own: Mapping[str, NodeResult]
) -> dict[str, str]:
    """Find tests that should have run and left no result."""
    if not reading.tests and not own:
        return {path: f"{path}: holds no test"}
    heard = {function_of(node) for node in own}
    silent = [f"{path}::{test}" for test in reading.tests if test not in heard]
    why = {
        **dict.fromkeys(silent, "did not run"),
        **dict.fromkeys(run.deselected, "was deselected"),
        **dict.fromkeys(set(run.collected).difference(own), "was collected, but never ran"),
    }
    return {node: f"{node}: {said}" for node, said in why.items() if file_of(node) == path}

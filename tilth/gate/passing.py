"""What passing means for pytest: pure decisions on what one run reported.

The report is read, the printed text is not. Every seed test that stands in the pristine file must
have run, and none may have failed, or been skipped, deselected or expected to fail, unless the
mark or the line of that very test says so, or it was so on the base.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from tilth.base.values import Value
from tilth.gate.findings import NodeResult
from tilth.gate.pristine import Pristine, SeedReading, function_of
from tilth.gate.support_files import support_files

_OK, _TESTS_FAILED = 0, 1
_MOST_REASONS = 5
_STATUS = {
    2: "pytest was interrupted",
    3: "pytest had an internal error, or the code under test tried to end the process",
    4: "pytest could not start with this project's configuration",
    5: "pytest found no test",
}


class PytestRun(Value):
    """Hold the report of one pytest run; `seeds` are its files as the interpreter read them.

    `reads` are pairs of a reader, "" for pytest, and what it read, if the run was watched.
    """

    status: int
    collected: tuple[str, ...] = ()
    deselected: tuple[str, ...] = ()
    results: tuple[NodeResult, ...] = ()
    seeds: Mapping[str, SeedReading] = {}
    reads: tuple[tuple[str, str], ...] = ()

    @property
    def support(self) -> frozenset[str]:
        """Give the files that the tests stand on."""
        return support_files(self.reads, self.collected)

    def pristine(self, path: str) -> Pristine:
        """Say what a seed test holds, as the interpreter that ran it has read it."""
        return Pristine.of(path, self.seeds.get(path, SeedReading()))

    def skip_reasons(self) -> dict[str, int]:
        """Count the most frequent reasons why tests were skipped."""
        said = (r.message or "no reason" for r in self.results if r.ending == "skipped")
        return dict(Counter(said).most_common(_MOST_REASONS))

    def counts(self) -> dict[str, int]:
        """Count the results by kind."""
        counts = {"collected": len(self.collected), "deselected": len(self.deselected)}
        for key, ending in _COUNTED.items():
            counts[key] = sum(result.ending == ending for result in self.results)
        return counts


_COUNTED = {
    "passed": "passed",
    "failed": "failed",
    "errors": "error",
    "skipped": "skipped",
    "xfailed": "xfailed",
}


def complaints(
    run: PytestRun, files: Iterable[Pristine], skipped_before: Collection[str] = ()
) -> dict[str, str]:
    """Say for each test that does not pass why; the key is its node, or that of its whole file."""
    endings = {result.node: result for result in run.results}
    found: dict[str, str] = {}
    for file in files:
        found.update(_results(file, endings, skipped_before))
        found.update(_unheard(file, run, endings))
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


def proves_nothing(run: PytestRun, files: Iterable[Pristine]) -> bool:
    """Tell whether not one test of these files passed."""
    held = tuple(files)
    return not any(
        result.ending == "passed" and file.owns(result.node)
        for result in run.results
        for file in held
    )


def _results(
    file: Pristine, endings: Mapping[str, NodeResult], skipped_before: Collection[str]
) -> dict[str, str]:
    found = {}
    for node, result in endings.items():
        if not file.owns(node) or result.ending == "passed":
            continue
        if result.is_red or not (node in skipped_before or file.excuses(result)):
            found[node] = result.line()
    return found


def _unheard(file: Pristine, run: PytestRun, endings: Mapping[str, NodeResult]) -> dict[str, str]:
    """Find tests that should have run and left no result."""
    if file.path in endings:
        return {}
    if not file.tests and not any(file.owns(node) for node in endings):
        return {file.path: f"{file.path}: holds no test"}
    heard = {function_of(node) for node in endings if file.owns(node)}
    found = {
        f"{file.path}::{test}": f"{file.path}::{test}: did not run"
        for test in file.tests
        if test not in heard
    }
    for node in run.deselected:
        if file.owns(node):
            found[node] = f"{node}: was deselected"
    for node in run.collected:
        if file.owns(node) and node not in endings:
            found[node] = f"{node}: was collected, but never ran"
    return found

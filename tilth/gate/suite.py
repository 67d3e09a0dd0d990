"""The project's own tests, as its configuration collects them: none may fail that passed before.

They are run once on a base and kept by its tree. A failure that is new is run again on both trees
and counts only if it is red twice here and green there. Seed tests are left out: they have a run of
their own.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass

from tilth.gate.export import Runtime, open_export
from tilth.gate.findings import NotRun, SuiteRecord, ValidatorReport
from tilth.gate.hooks import permitted_hooks
from tilth.gate.overlay import Overlay
from tilth.gate.passing import PytestRun, run_faults, unforgiven
from tilth.gate.pristine import function_of
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.reports import more, no_report, report_of
from tilth.gate.seed_proof import Proof
from tilth.gate.steering import is_test_file
from tilth.sandbox.confinement import Finished

SUITE = "suite"
_MOST_LINES = 100
_MOST_AGAIN = 50
_NO_TESTS = 5
_ENDED_BADLY = (2, 3, 4)


@dataclass(frozen=True)
class Suite:
    """Run a project's own tests; `arguments` are what its owner says to give to pytest."""

    runtime: Runtime
    timeout_s: float
    arguments: tuple[str, ...] = ()

    def on_base(self, proof: Proof, tree: str) -> ValidatorReport:
        """See what the tests do on the untouched base."""
        if not self.arguments and not _may_hold_tests(proof):
            return _not_run(NotRun.NO_TESTS, tree)
        end = self._run(proof, proof.base)
        if end.run is None:
            why = NotRun.TOO_SLOW if end.finished.timed_out else NotRun.NO_REPORT
            return _not_run(why, tree, end.finished)
        if not end.run.results and not end.run.collected:
            return _not_run(NotRun.NO_TESTS, tree, end.finished)
        if not end.run.collected or end.run.status in _ENDED_BADLY:
            return _not_run(NotRun.NOT_COLLECTED, tree, end.finished)
        return _with_record(_counted(end, end.run, []), end.run, tree)

    def on_tree(self, proof: Proof, before: SuiteRecord) -> ValidatorReport:
        """See whether any test fails on the tree that did not fail on the base."""
        end = self._run(proof, proof.tree)
        if end.run is None:
            said = f"{no_report(SUITE, end.finished, self.timeout_s)}\n{end.finished.output}"
            return report_of(SUITE, False, end.finished, said)
        faults = run_faults(end.run, _replaceable(proof, before, end.run))
        changed = {change.path for change in proof.trees.changes}
        lost = lost_tests(before, end.run, changed)
        red = {**unforgiven(_red(end.run), before.red), **lost}
        steady = self._steady(proof, red) if red and not faults else red
        lines = [*faults, *steady.values(), *_others(red, steady)]
        report = _counted(end, end.run, lines, passed=not faults and not steady)
        return report if proof.overlay.tampered else _with_record(report, end.run, proof.tree)

    def on_tip(self, proof: Proof, tree: str, first: SuiteRecord) -> ValidatorReport:
        """See whether any test fails at the end that did not when the session began."""
        end = self._run(proof, proof.tree)
        if end.run is None:
            said = f"{no_report(SUITE, end.finished, self.timeout_s)}\n{end.finished.output}"
            return report_of(SUITE, False, end.finished, said)
        red = unforgiven(_red(end.run), first.red)
        files = tuple(dict.fromkeys(node.partition("::")[0] for node in red))[:_MOST_AGAIN]
        again = self._run(proof, proof.tree, files).run if red else None
        steady = {node: why for node, why in red.items() if again is None or node in _red(again)}
        report = _counted(end, end.run, list(steady.values()), passed=not steady)
        return _with_record(report, end.run, tree)

    def edited(self, proof: Proof) -> tuple[str, ...]:
        """Name the tests of the base that were changed or deleted, and whether they still pass."""
        changes = {c.path: c.status for c in proof.trees.changes if c.status != "A"}
        files = [path for path in changes if is_test_file(path) and not proof.seeds.is_any(path)]
        old = {path: content for path in files if (content := proof.trees.read_base(path))}
        if not old:
            return ()
        restored = _overlay(proof).model_copy(
            update={"places": {**_overlay(proof).places, **proof.overlay.support, **old}}
        )
        end = self._run_with(restored, proof, proof.tree, tuple(old))
        return tuple(
            f"{path}: a test of the base that was {_DID[changes[path]]}; {_still(path, end.run)}"
            for path in old
        )

    def _steady(self, proof: Proof, red: dict[str, str]) -> dict[str, str]:
        """Keep the failures that are no whim: red once more here, and green on the base."""
        files = tuple(dict.fromkeys(node.partition("::")[0] for node in red))[:_MOST_AGAIN]
        there = tuple(path for path in files if path in proof.trees.base_files)
        if not there:
            return {}
        again = self._run(proof, proof.tree, files).run
        base = self._run(proof, proof.base, there).run
        return {
            node: why
            for node, why in red.items()
            if not _passed(node, again) and _passed(node, base)
        }

    def _run(self, proof: Proof, tree: str, files: tuple[str, ...] = ()) -> PytestEnd:
        return self._run_with(_overlay(proof, tree), proof, tree, files)

    def _run_with(
        self, overlay: Overlay, proof: Proof, tree: str, files: tuple[str, ...]
    ) -> PytestEnd:
        setup = proof.setup(selects=not files)
        with open_export(self.runtime, tree, overlay) as export:
            tests = files or self.arguments
            return run_pytest(export, tests, setup, self.timeout_s, seeds=())


def kept_report(known: SuiteRecord, first: SuiteRecord) -> ValidatorReport:
    """Word what is known of a tree already, measured by how the session began."""
    red = unforgiven({node: node for node in known.red}, first.red)
    said = "\n".join(red) or "none is red that was not so when the session began"
    return ValidatorReport(
        name=SUITE,
        passed=not red,
        exit_code=None,
        output=f"known from the run on this very tree: {said}",
        duration_ms=0,
        suite=known,
    )


def passed_functions(run: PytestRun) -> dict[str, tuple[str, ...]]:
    """Give the test functions of which at least one test passed, by their file."""
    found: dict[str, dict[str, None]] = {}
    for result in run.results:
        if result.ending == "passed":
            path = result.node.partition("::")[0]
            found.setdefault(path, {})[function_of(result.node)] = None
    return {path: tuple(functions) for path, functions in found.items()}


def lost_tests(before: SuiteRecord, run: PytestRun, changed: Container[str]) -> dict[str, str]:
    """Name the tests that passed and neither pass nor fail now, their file being untouched."""
    passed, red = passed_functions(run), _red(run)
    failed = {(node.partition("::")[0], function_of(node)) for node in red}
    return {
        f"{path}::{name}": f"{path}::{name}: passed on the base, is skipped or gone here"
        for path, names in before.passed.items()
        if path not in changed and path not in red
        for name in names
        if name not in passed.get(path, ()) and (path, name) not in failed
    }


_DID = {"M": "edited", "T": "edited", "D": "deleted"}


def _overlay(proof: Proof, tree: str | None = None) -> Overlay:
    """Leave out the seed tests, and keep what steers the gate as it is on the base."""
    on_base = tree == proof.base and tree != proof.tree
    files = proof.trees.base_files if on_base else proof.trees.tree_files
    seeds = [path for path in sorted(files) if proof.seeds.is_any(path)]
    if on_base:
        return Overlay(removes=tuple(seeds))
    whole = proof.overlay
    places = {path: text for path, text in whole.places.items() if not proof.seeds.is_any(path)}
    kept = tuple(path for path in whole.steering if not proof.seeds.is_any(path))
    return Overlay(places=places, removes=(*whole.removes, *seeds), kept=kept)


def _may_hold_tests(proof: Proof) -> bool:
    """Tell without a run that there can be no test: no file for one, and no configuration."""
    configured = proof.setup().config is not None
    own = (path for path in proof.trees.base_files if not proof.seeds.is_any(path))
    return configured or any(is_test_file(path) for path in own)


def _replaceable(proof: Proof, before: SuiteRecord, run: PytestRun) -> tuple[str, ...]:
    """Name what may stand in the place of pytest's own: what did before, and permitted hooks."""
    added = permitted_hooks(run.interference, before.replaced) if proof.may_steer else ()
    return (*before.replaced, *added)


def _red(run: PytestRun) -> dict[str, str]:
    return {result.node: result.line() for result in run.results if result.is_red}


def _passed(node: str, run: PytestRun | None) -> bool:
    """Tell whether a test, or every test of a file that no longer loads, passed in a run."""
    if run is None:
        return False
    below = [
        r for r in run.results if r.node == node or r.node.startswith((f"{node}::", f"{node}["))
    ]
    return any(r.ending == "passed" for r in below) and not any(r.is_red for r in below)


def _others(red: Iterable[str], steady: Iterable[str]) -> list[str]:
    """Name what is red and yet not held against the change."""
    other = [node for node in red if node not in set(steady)]
    if not other:
        return []
    return [f"red, but new, unsteady or red on the base too: {', '.join(other[:20])}"]


def _still(path: str, run: PytestRun | None) -> str:
    if run is None:
        return "its base version could not be run on this tree"
    red = [r.node for r in run.results if r.is_red and r.node.partition("::")[0] == path]
    if red:
        return f"its base version FAILS on this tree: {', '.join(red[:10])}"
    return "its base version still passes on this tree"


def _counted(
    end: PytestEnd, run: PytestRun, lines: list[str], *, passed: bool | None = None
) -> ValidatorReport:
    parts = [*lines[:_MOST_LINES], *more(lines, _MOST_LINES), "", end.finished.output]
    green = not any(result.is_red for result in run.results) if passed is None else passed
    return report_of(SUITE, green, end.finished, "\n".join(parts), run.counts())


def _with_record(report: ValidatorReport, run: PytestRun, tree: str) -> ValidatorReport:
    record = SuiteRecord(
        tree=tree, red=tuple(_red(run)), passed=passed_functions(run), replaced=run.interference
    )
    return report.model_copy(update={"suite": record})


def _not_run(why: NotRun, tree: str, finished: Finished | None = None) -> ValidatorReport:
    said = f"not run: {why.words()}"
    return ValidatorReport(
        name=SUITE,
        passed=True,
        exit_code=finished.exit_code if finished else None,
        output=f"{said}\n{finished.output}".strip() if finished else said,
        duration_ms=finished.duration_ms if finished else 0,
        suite=SuiteRecord(tree=tree, not_run=why),
    )

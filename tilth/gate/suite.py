"""The project's own tests, as its configuration collects them: none may fail that passed before.

They are run once on a base and kept by its tree. A failure that is new is run again on both trees
and counts only if it is red twice here and green there, or the change brings the test itself. Seed
tests are left out: they have a run of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tilth.gate.base_tests import (
    STILL_PASSES,
    fewer_cases,
    file_of,
    holds,
    is_held,
    lost_doctests,
    lost_tests,
    passed_cases,
    passed_functions,
    passes,
    standing,
    with_the_bases,
)
from tilth.gate.challenged import more
from tilth.gate.export import Runtime, open_export
from tilth.gate.findings import NodeResult, NotRun, SuiteRecord, ValidatorReport
from tilth.gate.overlay import Overlay
from tilth.gate.passing import PytestRun, run_faults, unforgiven
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.reports import no_report, report_of
from tilth.gate.seed_proof import Proof
from tilth.gate.steering import is_test_file
from tilth.gate.tampering import shortened
from tilth.sandbox.confinement import Finished

SUITE = "suite"
_MOST_LINES = 100
_MOST_AGAIN = 50
_NO_TESTS = 5
_ENDED_BADLY = (2, 3, 4)


class Tried(NamedTuple):
    """Hold how the tests went on a tree, and what is no failure and yet to be told."""

    report: ValidatorReport
    notes: tuple[str, ...] = ()


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
        end = self._run(proof, proof.base, watched=True)
        if end.run is None:
            why = NotRun.TOO_SLOW if end.finished.timed_out else NotRun.NO_REPORT
            return _not_run(why, tree, end.finished)
        if not end.run.results and not end.run.collected:
            return _not_run(NotRun.NO_TESTS, tree, end.finished)
        if not end.run.collected or end.run.status in _ENDED_BADLY:
            return _not_run(NotRun.NOT_COLLECTED, tree, end.finished)
        support = tuple(sorted(end.run.support))
        return _with_record(_counted(end, end.run, []), end.run, tree, support)

    def on_tree(self, proof: Proof, before: SuiteRecord) -> Tried:
        """See whether any test fails on the tree that did not fail on the base."""
        end = self._run(proof, proof.tree)
        if end.run is None:
            said = f"{no_report(SUITE, end.finished, self.timeout_s)}\n{end.finished.output}"
            return Tried(report_of(SUITE, False, end.finished, said))
        faults = run_faults(end.run)
        edited = _edited(proof, before)
        red = {**unforgiven(_red(end.run), before.red), **lost_tests(before, end.run, edited)}
        steady = self._steady(proof, red, before) if red and not faults else red
        lines = [*faults, *steady.values(), *_others(red, steady)]
        report = _counted(end, end.run, lines, passed=not faults and not steady)
        fewer = fewer_cases(before, end.run, edited)
        notes = (*shortened(fewer), *shortened(lost_doctests(before, end.run, edited)))
        if proof.overlay.tampered:
            return Tried(report, notes)
        # A whim is not kept for what the tree is: later tasks are measured by that.
        settled = _passing(end.run, red.keys() - steady.keys())
        return Tried(_with_record(report, settled, proof.tree, before.support), notes)

    def on_tip(self, proof: Proof, tree: str, first: SuiteRecord) -> ValidatorReport:
        """See whether any test fails at the end that did not when the session began."""
        end = self._run(proof, proof.tree)
        if end.run is None:
            said = f"{no_report(SUITE, end.finished, self.timeout_s)}\n{end.finished.output}"
            return report_of(SUITE, False, end.finished, said)
        red = unforgiven(_red(end.run), first.red)
        files = _first_files(red)
        alone = self._run(proof, proof.tree, files).run if red else None
        again = self._red_again(proof, red, dict.fromkeys(files, alone))
        steady = {node: why for node, why in red.items() if node in again}
        report = _counted(end, end.run, list(steady.values()), passed=not steady)
        return _with_record(report, _passing(end.run, red.keys() - again), tree, first.support)

    def edited(self, proof: Proof, before: SuiteRecord) -> tuple[str, ...]:
        """Name what was changed of the base's tests and of what they stand on.

        With it, what the tests do on this tree if it is put back.
        """
        changes = _edited(proof, before)
        files = [path for path in changes if holds(path, before) and not proof.seeds.is_any(path)]
        old = {path: content for path in files if (content := proof.trees.read_base(path))}
        beside = [path for path in proof.overlay.support if not holds(path, before)]
        if not old and not beside:
            return ()
        whole = _overlay(proof)
        places = {**whole.places, **proof.overlay.support, **old}
        restored = whole.model_copy(update={"places": places})
        run = self._run_with(restored, proof, proof.tree, () if beside else tuple(old)).run
        told = {path: standing(path, run, before) for path in old}
        said = [
            f"{path}: a test of the base that was {_DID[changes[path]]}; {told[path]}"
            # Of a flood those come first that speak against the change.
            for path in sorted(told, key=lambda path: told[path] == STILL_PASSES)
        ]
        put_back = with_the_bases(run, before)
        return (
            *shortened(said),
            *shortened(
                [f"{path}: tests stand on it; with the base's {put_back}" for path in beside]
            ),
        )

    def _steady(self, proof: Proof, red: dict[str, str], before: SuiteRecord) -> dict[str, str]:
        """Keep the failures that are no whim: red once more here, and not red on the base."""
        files = _first_files(red)
        alone = self._run(proof, proof.tree, files).run
        there = tuple(path for path in files if path in proof.trees.base_files)
        base = self._run(proof, proof.base, there).run if there else PytestRun(status=0)
        # Of a flood of red files those beyond the first are measured by the run that is known.
        known = dict.fromkeys(files, base)
        held = [node for node in red if is_held(node, known.get(file_of(node)), before)]
        again = self._red_again(proof, held, dict.fromkeys(files, alone))
        return {node: why for node, why in red.items() if node in again}

    def _red_again(
        self, proof: Proof, red: Collection[str], alone: Mapping[str, PytestRun | None]
    ) -> frozenset[str]:
        """Give those that were red once more by themselves, or are so in the whole run again."""
        found = {node for node in red if not passes(node, alone.get(file_of(node)))}
        if len(found) < len(red):
            # Code that keeps a state fails only after the tests that come before it.
            whole = self._run(proof, proof.tree).run
            found |= {node for node in red if not passes(node, whole)}
        return frozenset(found)

    def _run(
        self, proof: Proof, tree: str, files: tuple[str, ...] = (), *, watched: bool = False
    ) -> PytestEnd:
        return self._run_with(_overlay(proof, tree), proof, tree, files, watched=watched)

    def _run_with(
        self,
        overlay: Overlay,
        proof: Proof,
        tree: str,
        files: tuple[str, ...],
        *,
        watched: bool = False,
    ) -> PytestEnd:
        setup = proof.setup(selects=not files)
        with open_export(self.runtime, tree, overlay) as export:
            tests = files or self.arguments
            return run_pytest(export, tests, setup, self.timeout_s, watched=watched)


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
    return Overlay(places=places, removes=(*whole.removes, *seeds))


def _may_hold_tests(proof: Proof) -> bool:
    """Tell without a run that there can be no test: no file for one, and no configuration."""
    configured = proof.setup().config is not None
    own = (path for path in proof.trees.base_files if not proof.seeds.is_any(path))
    return configured or any(is_test_file(path) for path in own)


def _red(run: PytestRun) -> dict[str, str]:
    return {result.node: result.line() for result in run.results if result.is_red}


def _first_files(red: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(file_of, red)))[:_MOST_AGAIN]


def _passing(run: PytestRun, nodes: Container[str]) -> PytestRun:
    """Give a run in which these tests passed: they did when they were run again."""
    results = (
        NodeResult(node=result.node, ending="passed") if result.node in nodes else result
        for result in run.results
    )
    return run.model_copy(update={"results": tuple(results)})


def _edited(proof: Proof, before: SuiteRecord) -> dict[str, str]:
    """Give how files with tests of the base were changed: their content, not their mode alone."""
    trees = proof.trees
    return {
        path: status
        for path, status in ((change.path, change.status) for change in trees.changes)
        # No other is read: a change may be of thousands of files.
        if status != "A" and (path in before.passed or is_test_file(path))
        if status != "M" or trees.read_base(path) != trees.read_tree(path)
    }


def _others(red: Iterable[str], steady: Iterable[str]) -> list[str]:
    """Name what is red and yet not held against the change."""
    other = [node for node in red if node not in set(steady)]
    if not other:
        return []
    return [f"red, but unsteady or not green on the base either: {', '.join(other[:20])}"]


def _counted(
    end: PytestEnd, run: PytestRun, lines: list[str], *, passed: bool | None = None
) -> ValidatorReport:
    parts = [*lines[:_MOST_LINES], *more(lines, _MOST_LINES), "", end.finished.output]
    green = not any(result.is_red for result in run.results) if passed is None else passed
    return report_of(SUITE, green, end.finished, "\n".join(parts), run.counts())


def _with_record(
    report: ValidatorReport, run: PytestRun, tree: str, support: tuple[str, ...]
) -> ValidatorReport:
    record = SuiteRecord(
        tree=tree,
        red=tuple(_red(run)),
        passed=passed_functions(run),
        cases=passed_cases(run),
        support=support,
        skips=run.skip_reasons(),
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

"""The project's own tests, as its configuration collects them: none may fail that passed before.

They are run once on a base and kept by its tree. A failure that is new is run again on both trees
and counts only if it is red twice here and green there, or the change brings the test itself. A
test that is skipped or gone has no result that is red, and proves as little. Seed tests are left
out: they have a run of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from tilth.contract.suite_record import NotRun, SuiteRecord
from tilth.gate.challenged import more
from tilth.gate.export import Runtime, open_export
from tilth.gate.findings import ValidatorReport
from tilth.gate.overlay import Overlay
from tilth.gate.passing import PytestRun, run_faults, unforgiven
from tilth.gate.pristine import file_of, function_of
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.reports import NO_PROCESS, no_report, report_of
from tilth.gate.run_notes import run_notes
from tilth.gate.seed_proof import Proof
from tilth.gate.steering import is_test_file
from tilth.gate.tampering import shortened

SUITE = "suite"
STILL_PASSES = "still passes on this tree"
_MOST_LINES = 100
_MOST_AGAIN = 50
_MOST_NAMED = 10
_ENDED_BADLY = (2, 3, 4)
_NONE_THERE = PytestEnd(NO_PROCESS, PytestRun(status=5))
_DID = {"M": "edited", "T": "edited", "D": "deleted"}


@dataclass(frozen=True)
class Suite:
    """Run a project's own tests; `arguments` are what its owner says to give to pytest."""

    runtime: Runtime
    proof: Proof
    timeout_s: float
    arguments: tuple[str, ...] = ()

    def on_base(self, tree: str) -> tuple[ValidatorReport, SuiteRecord]:
        """See what the tests do on the untouched base."""
        may_hold = self.arguments or _may_hold_tests(self.proof)
        end = self._run(self.proof.base, watched=True) if may_hold else _NONE_THERE
        run = _believed(end)
        if isinstance(run, NotRun):
            said = f"not run: {run.words()}\n{end.finished.output}"
            report = report_of(SUITE, True, end.finished, said)
            record = SuiteRecord(tree=tree, not_run=run)
        else:
            record = _record(tree, run, tuple(sorted(run.support)))
            report = _report(end, not record.red)
        return _with(report, record), record

    def on_tree(self, before: SuiteRecord, tree: str) -> tuple[ValidatorReport, tuple[str, ...]]:
        """See whether any test fails that did not fail before, and what else is to be told.

        A proof whose tree is its base is of what a session leaves, measured by how it began.
        """
        proof, edited = self.proof, _edited(self.proof, before)
        end = self._run(proof.tree, watched=True)
        run = end.run
        if run is None:
            said = no_report(SUITE, end.finished, self.timeout_s)
            return _report(end, False, said), self._put_back(before, edited)
        gone = {} if proof.tree == proof.base else _gone(before, run, before.passed)
        lost = {node: why for node, why in gone.items() if file_of(node) not in edited}
        red, faults = {**unforgiven(_red(run), before.red), **lost}, run_faults(run)
        steady = red if faults else self._steady(red, before)
        whims = [node for node in red if node not in steady]
        told = [f"red, but unsteady or not green on the base either: {', '.join(whims[:20])}"]
        lines = [*faults, *steady.values(), *(told if whims else ())]
        report = _report(end, not faults and not steady, *lines)
        if not proof.overlay.tampered:
            # A whim is not kept for what the tree is: later tasks are measured by that.
            report = _with(report, _record(tree, run, before.support, whims))
        product = {path for path in edited if not _is_of_tests(path, before)}
        silenced = [why for node, why in gone.items() if file_of(node) in product]
        notes = (*shortened(silenced), *run_notes(proof, run))
        return report, (*notes, *self._put_back(before, edited))

    def _steady(self, red: dict[str, str], before: SuiteRecord) -> dict[str, str]:
        """Keep the failures that are no whim: red once more here, and not red on the base."""
        if not red:
            return {}
        proof, held, files = self.proof, set(red), tuple(dict.fromkeys(map(file_of, red)))
        alone = self._run(proof.tree, files).run
        if proof.tree != proof.base:
            there = tuple(path for path in files if path in proof.trees.base_files)
            base = self._run(proof.base, there).run if there else _NONE_THERE.run
            held = {node for node in red if _is_held(node, base, before)}
        again = {node for node in held if not _passes(node, alone)}
        if len(again) < len(held):
            # Code that keeps a state fails only after the tests that come before it.
            whole = self._run(proof.tree).run
            again |= {node for node in held if not _passes(node, whole)}
        return {node: why for node, why in red.items() if node in again}

    def _put_back(self, before: SuiteRecord, edited: dict[str, str]) -> tuple[str, ...]:
        """Name changed tests of the base and what they stand on, and how the base's copies do."""
        proof = self.proof
        own = [p for p in edited if _is_of_tests(p, before) and not proof.seeds.is_any(p)]
        old = {path: content for path in own if (content := proof.trees.read_base(path))}
        beside = [path for path in proof.overlay.support if not _is_of_tests(path, before)]
        if not old and not beside:
            return ()
        whole = proof.overlay
        overlay = whole.model_copy(update={"places": {**whole.places, **whole.support, **old}})
        restored = replace(self, proof=replace(proof, overlay=overlay))
        run = restored._run(proof.tree, () if beside else tuple(old)).run
        stands = [(path, _standing((path,), run, before)) for path in old]
        told = [
            f"{path}: a test of the base that was {_DID[edited[path]]}; its base version {does}"
            # Of a flood those come first that speak against the change.
            for path, does in sorted(stands, key=lambda each: each[1] == STILL_PASSES)
        ]
        stood = _standing(before.passed, run, before)
        helpers = [
            f"{path}: tests stand on it; with the base's copy what passed before {stood}"
            for path in beside
        ]
        return (*shortened(told), *shortened(helpers))

    def _run(self, tree: str, files: tuple[str, ...] = (), *, watched: bool = False) -> PytestEnd:
        """Run some files, or all that the project says; a flood of files is run as all."""
        tests = files if len(files) <= _MOST_AGAIN else ()
        setup = self.proof.setup(selects=not tests)
        with open_export(self.runtime, tree, _overlay(self.proof, tree)) as export:
            tests = tests or self.arguments
            return run_pytest(export, tests, setup, self.timeout_s, watched=watched)


def kept_report(known: SuiteRecord, first: SuiteRecord) -> ValidatorReport:
    """Word what is known of a tree already, measured by how the session began."""
    red = unforgiven({node: node for node in known.red}, first.red)
    said = "\n".join(red) or "none is red that was not so when the session began"
    output = f"known from the run on this very tree: {said}"
    return _with(report_of(SUITE, not red, output=output), known)


def _overlay(proof: Proof, tree: str) -> Overlay:
    """Leave out the seed tests, and keep what steers the gate as it is on the base."""
    on_base = tree == proof.base and tree != proof.tree
    whole = Overlay() if on_base else proof.overlay
    files = proof.trees.base_files if on_base else proof.trees.tree_files
    seeds = [path for path in sorted(files) if proof.seeds.is_any(path)]
    places = {path: text for path, text in whole.places.items() if not proof.seeds.is_any(path)}
    return Overlay(places=places, removes=(*whole.removes, *seeds))


def _may_hold_tests(proof: Proof) -> bool:
    """Tell without a run that there can be no test: no file for one, and no configuration."""
    configured = proof.setup().config is not None
    own = (path for path in proof.trees.base_files if not proof.seeds.is_any(path))
    return configured or any(is_test_file(path) for path in own)


def _believed(end: PytestEnd) -> PytestRun | NotRun:
    """Give the run of a base, or why it tells nothing."""
    run = end.run
    if run is None:
        return NotRun.TOO_SLOW if end.finished.timed_out else NotRun.NO_REPORT
    if not run.results and not run.collected:
        return NotRun.NO_TESTS
    is_broken = not run.collected or run.status in _ENDED_BADLY
    return NotRun.NOT_COLLECTED if is_broken else run


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


def _is_of_tests(path: str, before: SuiteRecord) -> bool:
    """Tell whether a file of the base is one of tests, whatever the project calls such files."""
    functions = before.passed.get(path, ())
    if is_test_file(path) or (functions and not path.endswith(".py")):
        return True
    # A doctest is named after the module that it stands in: that one is the product's.
    own = PurePosixPath(path).stem
    return any(own not in function.split(".") for function in functions)


def _standing(paths: Collection[str], run: PytestRun | None, before: SuiteRecord) -> str:
    """Say how tests of the base do on a tree that has got back what they stood on."""
    if run is None:
        return "could not be run on this tree"
    held = {f"{path}::{name}" for path in paths for name in before.passed.get(path, ())}
    if not held:
        return "has no test that passed on the base"
    red = [node for node in _red(run) if node.partition("[")[0] in held or node in paths]
    bad = red or [*_gone(before, run, paths)]
    if not bad:
        return STILL_PASSES
    does = "FAILS on this tree" if red else "does NOT pass on this tree, skipped or gone"
    return f"{does}: {', '.join([*bad[:_MOST_NAMED], *more(bad, _MOST_NAMED)])}"


def _is_held(node: str, base: PytestRun | None, before: SuiteRecord) -> bool:
    """Tell whether a test that is red on a tree is held against it: it is not red on the base.

    One that passed there is, and so is one that nobody has seen there: the change brings it.
    """
    if base is None:
        return function_of(node) in before.passed.get(file_of(node), ())
    if file_of(node) in _red(base):
        return False
    seen = [one for one in (node, node.partition("[")[0]) if _endings(one, base)]
    return not seen or _passes(seen[0], base)


def _passes(node: str, run: PytestRun | None) -> bool:
    """Tell whether a test, or every test of a file that no longer loads, passed in a run."""
    endings = _endings(node, run) if run else set()
    return "passed" in endings and endings.isdisjoint(("failed", "error"))


def _endings(node: str, run: PytestRun) -> set[str]:
    below = (f"{node}::", f"{node}[")
    return {r.ending for r in run.results if r.node == node or r.node.startswith(below)}


def _gone(before: SuiteRecord, run: PytestRun, paths: Iterable[str]) -> dict[str, str]:
    """Name the functions of files that passed and neither pass nor fail in a run."""
    ended = (result for result in run.results if result.is_red or result.ending == "passed")
    seen = {result.node.partition("[")[0] for result in ended}
    nodes = [f"{path}::{name}" for path in paths for name in before.passed.get(path, ())]
    left = [node for node in nodes if seen.isdisjoint((node, file_of(node)))]
    return {node: f"{node}: passed on the base, is skipped or gone here" for node in left}


def _red(run: PytestRun) -> dict[str, str]:
    return {result.node: result.line() for result in run.results if result.is_red}


def _report(end: PytestEnd, passed: bool, *lines: str) -> ValidatorReport:
    parts = [*lines[:_MOST_LINES], *more(lines, _MOST_LINES), "", end.finished.output]
    counts = end.run.counts() if end.run else None
    return report_of(SUITE, passed, end.finished, "\n".join(parts), counts)


def _record(
    tree: str, run: PytestRun, support: tuple[str, ...], whims: Container[str] = ()
) -> SuiteRecord:
    """Keep what tests did; those that were red on a whim passed when they were run again."""
    passed, cases = dict[str, dict[str, None]](), Counter[str]()
    for result in run.results:
        if result.ending == "passed" or result.node in whims:
            passed.setdefault(file_of(result.node), {})[function_of(result.node)] = None
            cases[result.node.partition("[")[0]] += 1
    return SuiteRecord(
        tree=tree,
        red=tuple(node for node in _red(run) if node not in whims),
        passed={path: tuple(functions) for path, functions in passed.items()},
        cases={node: count for node, count in cases.items() if count > 1},
        support=support,
        skips=run.skip_reasons(),
    )


def _with(report: ValidatorReport, record: SuiteRecord) -> ValidatorReport:
    return report.model_copy(update={"suite": record})

"""The challenge made: test files run again with some of their expectations false.

Every run has a copy of the tree and a process of its own; the rewritten files exist nowhere else,
and the true ones not at all there. What the runs show is decided in `challenge`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from tilth.contract.suite_record import SuiteRecord
from tilth.gate.challenge import (
    Expectations,
    Outcome,
    Pattern,
    Unit,
    alone,
    blind_words,
    outcome_of,
    patterns,
    red_words,
    signs,
    tables,
    units_of,
)
from tilth.gate.challenged import Challenged
from tilth.gate.export import Runtime, open_export
from tilth.gate.in_target.run import keyed
from tilth.gate.overlay import Overlay
from tilth.gate.passing import PytestRun
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.reach import Reach
from tilth.gate.seed_files import read_expectations
from tilth.gate.seed_proof import PYTEST, Proof
from tilth.gate.steering import TESTS
from tilth.gate.suite import file_of
from tilth.gate.tampering import shortened

SUITE = "suite"
# What a falsified test may take: some of them loop until a value is reached that never comes.
_PATIENCE_S, _PATIENCE = 5, 5
_MOST_AGAIN = 12
_MOST_TRIES = 2

# What tests use without naming it.
_ALWAYS_USED = ("__init__.py", "conftest.py")

_Ran = tuple[Pattern, PytestRun | None]


def _nonce() -> str:
    return secrets.token_hex(8)


@dataclass
class Challenger:
    """Make false what tests expect, and see whether they notice.

    What tests of a base notice is remembered by its tree and their file.
    """

    runtime: Runtime
    timeout_s: float
    seconds: float
    cores: int = 1
    new_nonce: Callable[[], str] = _nonce
    _steady: dict[tuple[str, tuple[str, ...], tuple[str, ...]], tuple[Unit, ...]] = field(
        default_factory=dict
    )

    def seeds(self, proof: Proof, green: PytestEnd) -> Challenged:
        """Challenge a task's own seed tests, which have just been green on its tree."""
        own, nonce = tuple(proof.seeds.own), self.new_nonce()
        files = self._files(proof, proof.tree, own).within(green.finished.duration_ms)
        every = files.units(green.run) if green.run else ()
        units = tuple(unit for unit in every if file_of(unit.node) in own)
        runs = files.run(patterns(units, nonce), units, self.cores)
        outcome = outcome_of(units, runs)
        again = [unit for unit in units if outcome.deviates(unit)][:_MOST_AGAIN]
        refused, noticed = [], set(outcome.noticed)
        if again:
            # Tests may share a state, and a machine may stumble: each by itself, once more.
            # With other false values, since one may by chance be as good as the true one.
            files = replace(files, rule=f"{files.rule} again")
            more = files.run(alone(again, f"{nonce} again"), again, self.cores)
            second = outcome_of(again, more, others_matter=False)
            refused = [_refusal(unit, second, files) for unit in again if second.deviates(unit)]
            noticed |= second.noticed
            runs = [*runs, *more]
        return Challenged(
            validator=PYTEST,
            tests=tuple(unit.node for unit in units),
            nonce=nonce,
            tries=1 + bool(again),
            runs=tuple(signs(units, pattern, run) for pattern, run in runs),
            noticed=tuple(unit.node for unit in units if unit.key in noticed),
            unnoticed=tuple(unit.node for unit in units if unit.key not in noticed),
            refused=tuple(refused),
        )

    def suite(self, proof: Proof, before: SuiteRecord) -> Challenged:
        """Challenge what the change can touch of the tests that passed on the base.

        What was noticed there must be noticed on the change.
        """
        deadline = time.monotonic() + self.seconds
        waiting = reaching(proof, before) if self.seconds else ()
        found, size = Challenged(validator=SUITE, nonce=self.new_nonce()), 1
        while waiting and time.monotonic() < deadline:
            batch, started = waiting[:size], time.monotonic()
            nonce = f"{found.nonce} {len(found.tests)}"
            found = _joined(found, self._batch(proof, batch, before.tree, nonce))
            waiting = waiting[size:]
            took = max(time.monotonic() - started, 0.01)
            size = max(1, min(4 * size, int(size * (deadline - time.monotonic()) / (2 * took))))
        if not waiting:
            return found
        why = f"not challenged within {self.seconds:g} seconds, though they reach the change: "
        return found.model_copy(update={"left_out": (why + ", ".join(shortened(waiting)),)})

    def _batch(self, proof: Proof, names: tuple[str, ...], base: str, nonce: str) -> Challenged:
        there = self._files(proof, proof.base, names)
        key = base, names, tuple(there.expected.texts)
        if key not in self._steady:
            self._steady[key] = _steady(there, f"{nonce} base")
        units = self._steady[key]
        here, runs, missed, tries = replace(there, tree=proof.tree), [], units, 0
        outcome = Outcome()
        while missed and tries < _MOST_TRIES:
            tries += 1
            made = here.run(patterns(missed, f"{nonce} {tries}"), missed)
            outcome = outcome_of(missed, made)
            proven = outcome.noticed - outcome.red
            # Cases that are gone have been told of already.
            there_still = _present(made) or {unit.key for unit in missed}
            missed = tuple(unit for unit in missed if unit.key in there_still - proven)
            runs += [signs(units, pattern, run) for pattern, run in made]
        return Challenged(
            validator=SUITE,
            tests=tuple(unit.node for unit in units),
            tries=tries,
            runs=tuple(runs),
            noticed=tuple(unit.node for unit in units if unit not in missed),
            refused=tuple(
                f"{_lost(unit, outcome, there)}; on the base it noticed" for unit in missed
            ),
        )

    def _files(self, proof: Proof, tree: str, names: tuple[str, ...]) -> _TestFiles:
        expected = read_expectations(self.runtime, _texts(proof, names), self.timeout_s)
        return _TestFiles(self.runtime, proof, tree, names, expected, self.timeout_s, tree)


def _present(runs: Iterable[_Ran]) -> frozenset[str]:
    """Give the tests that were there in some runs, whatever became of them."""
    return frozenset(key for _, run in runs if run for key in keyed(list(run.collected)).values())


def _lost(unit: Unit, found: Outcome, files: _TestFiles) -> str:
    if unit.key in found.red:
        return red_words(unit)
    return blind_words(unit, None, files.expected, files.rule)


def _refusal(unit: Unit, found: Outcome, files: _TestFiles) -> str:
    if unit.key in found.blind:
        return blind_words(unit, found.blind[unit.key], files.expected, files.rule)
    return red_words(unit)


def _steady(files: _TestFiles, nonce: str) -> tuple[Unit, ...]:
    """Give the tests that are red on a base whenever they are falsified, and never otherwise."""
    started = time.monotonic()
    [(_, true)] = files.run([Pattern(false={})], ())
    files = files.within(1000 * (time.monotonic() - started))
    units = files.units(true) if true else ()
    runs = files.run(patterns(units, nonce), units)
    steady = outcome_of(units, runs).steady
    return tuple(unit for unit in units if unit.key in steady)


@dataclass(frozen=True)
class _TestFiles:
    """Hold the files that are challenged on one tree, and what they expect."""

    runtime: Runtime
    proof: Proof
    tree: str
    names: tuple[str, ...]
    expected: Expectations
    timeout_s: float
    # By which what is false is decided.
    rule: str
    test_s: float | None = None

    def within(self, duration_ms: float) -> _TestFiles:
        """Give each test some times as long as all of them took together."""
        return replace(self, test_s=_PATIENCE_S + _PATIENCE * duration_ms / 1000)

    def units(self, green: PytestRun) -> tuple[Unit, ...]:
        """Give the tests of a run that passed."""
        return units_of(green, self.expected, self.rule)

    def run(self, plan: Sequence[Pattern], units: Sequence[Unit], cores: int = 1) -> list[_Ran]:
        """Make the runs of a plan, so many at a time."""
        if cores == 1 or len(plan) < 2:
            return [(pattern, self._run(self.runtime, pattern, units)) for pattern in plan]
        # One place for all of them: they are one command of the gate.
        with self.runtime.place(), ThreadPoolExecutor(max_workers=cores) as pool:
            runtime = replace(self.runtime, place=nullcontext)
            made = [pool.submit(self._run, runtime, pattern, units) for pattern in plan]
            return [(p, each.result()) for p, each in zip(plan, made, strict=True)]

    def _run(self, runtime: Runtime, pattern: Pattern, units: Sequence[Unit]) -> PytestRun | None:
        handed = tables(pattern, units, self.expected, self.rule)
        setup, wait_s = self.proof.setup(), self.timeout_s
        with open_export(runtime, self.tree, self._overlay()) as export:
            end = run_pytest(export, self.names, setup, wait_s, expected=handed, test_s=self.test_s)
            return end.run

    def _overlay(self) -> Overlay:
        whole, texts = self.proof.overlay, self.expected.files()
        if self.tree == self.proof.base:
            return Overlay(places={**self.proof.seeds.run, **texts})
        places = {**whole.places, **whole.support, **texts}
        return Overlay(places=places, removes=whole.removes)


def reaching(proof: Proof, before: SuiteRecord) -> tuple[str, ...]:
    """Name the files of tests that passed on the base and reach what was changed, nearest first."""
    trees = proof.trees
    changed = {c.path for c in trees.changes if c.path.endswith(".py") and c.status != "A"}
    files = [path for path in before.passed if path.endswith(".py") and path not in changed]
    seeds = [path for path in proof.seeds.done if path.endswith(".py")]
    reach = Reach(
        trees.base_files, lambda path: proof.seeds.done.get(path) or trees.read_base(path)
    )
    far = {path: reach.distance(path, changed) for path in dict.fromkeys([*seeds, *files])}
    near = [path for path, steps in far.items() if steps is not None]
    return tuple(sorted(near, key=lambda path: (far[path] or 0, path)))


def _texts(proof: Proof, files: Collection[str]) -> dict[str, bytes]:
    """Give test files, and those of the base beside them that they may call or build upon."""
    texts = {path: proof.seeds.run.get(path) or proof.trees.read_base(path) for path in files}
    own = {path: text for path, text in texts.items() if text is not None}
    places = {path.rpartition("/")[0] for path in own} | {TESTS}
    words = b"\n".join(own.values())
    helpers = [
        path
        for path in proof.trees.base_files
        if path.endswith(".py") and path not in own and path.rpartition("/")[0] in places
        if not proof.seeds.is_any(path)
        if PurePosixPath(path).stem.encode() in words or PurePosixPath(path).name in _ALWAYS_USED
    ]
    beside = {path: proof.trees.read_base(path) for path in helpers}
    changed = {change.path for change in proof.trees.changes} - {*proof.overlay.support}
    kept = {path: text for path, text in beside.items() if text and path not in changed}
    return {**own, **kept}


def _joined(one: Challenged, other: Challenged) -> Challenged:
    """Put what two batches showed together; their runs are written one after the other."""
    before, after = "-" * len(one.tests), "-" * len(other.tests)
    runs = [r.model_copy(update={"false": r.false + after, "red": r.red + after}) for r in one.runs]
    runs += [
        r.model_copy(update={"false": before + r.false, "red": before + r.red}) for r in other.runs
    ]
    both: Mapping[str, object] = {
        name: (*getattr(one, name), *getattr(other, name))
        for name in ("tests", "noticed", "unnoticed", "left_out", "refused")
    }
    tries = max(one.tries, other.tries)
    return one.model_copy(update={**both, "runs": tuple(runs), "tries": tries})

"""The challenge made: test files run again with some of their expectations false.

Every run has a copy of the tree and a process of its own; the rewritten files exist nowhere else,
and the true ones not at all there. What the runs show is decided in `challenge`.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from tilth.contract.suite_record import SuiteRecord
from tilth.gate.challenge import (
    Change,
    Expectations,
    Pattern,
    Ran,
    Seen,
    Unit,
    alone,
    patterns,
    ran,
    seen,
    signs,
    tables,
    tells_little,
    units_of,
    wrong,
)
from tilth.gate.challenged import Challenged, Known
from tilth.gate.export import Runtime, open_export
from tilth.gate.findings import ValidatorReport
from tilth.gate.overlay import Overlay
from tilth.gate.passing import PytestRun
from tilth.gate.pristine import file_of
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.reach import Reach
from tilth.gate.seed_files import read_expectations
from tilth.gate.seed_proof import PYTEST, Proof
from tilth.gate.steering import TESTS
from tilth.gate.tampering import shortened

SUITE = "suite"
# What a falsified test may take: some of them loop until a value is reached that never comes.
_PATIENCE_S, _PATIENCE = 5, 5
_MOST_AGAIN = 12
_MOST_TRIES = 2

# What tests use without naming it.
_ALWAYS_USED = ("__init__.py", "conftest.py")


def _nonce() -> str:
    return secrets.token_hex(8)


@dataclass
class _Found:
    """Gather what is shown of tests; the runs are those of one batch of them after the other."""

    units: list[Unit] = field(default_factory=list)
    runs: list[Ran] = field(default_factory=list)
    unnoticed: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    tries: int = 0
    coarse: dict[str, None] = field(default_factory=dict)

    def told(self, validator: str, nonce: str) -> Challenged:
        """Write it down."""
        return Challenged(
            validator=validator,
            tests=tuple(unit.node for unit in self.units),
            nonce=nonce,
            tries=self.tries,
            runs=tuple(signs(self.units, run) for run in self.runs),
            noticed=tuple(unit.node for unit in self.units if unit.key not in self.unnoticed),
            coarse=tuple(self.coarse),
            refused=tuple(self.refused),
        )


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
        units = [unit for unit in every if file_of(unit.node) in own]
        runs = files.run(patterns(units, nonce), units, self.cores)
        first = [(unit, seen(unit, runs)) for unit in units]
        again = [unit for unit, found in first if found.deviates][:_MOST_AGAIN]
        # Tests may share a state, and a machine may stumble: each by itself, once more.
        # With other false values, since one may by chance be as good as the true one.
        true, files = files, replace(files, rule=f"{files.rule} again")
        more = files.run(alone(again, f"{nonce} again"), again, self.cores) if again else []
        second = [(unit, seen(unit, more, mixed=False)) for unit in again]
        noticed = {unit.key for unit, found in [*first, *second] if found.noticed}
        blind = {unit.key for unit in units} - noticed
        refused = [files.wrong(unit, found) for unit, found in second if found.deviates]
        made = _Found(units, [*runs, *more], blind, refused, 1 + bool(again))
        made.coarse = {
            true.little(unit, found.coarse): None
            for unit, found in first
            if found.coarse is not None and unit.key in noticed
        }
        unnoticed = tuple(unit.node for unit in units if unit.key in blind)
        return made.told(PYTEST, nonce).model_copy(update={"unnoticed": unnoticed})

    def suite(self, proof: Proof, before: SuiteRecord) -> Challenged:
        """Challenge what the change can touch of the tests that passed on the base.

        What was noticed there must be noticed on the change.
        """
        deadline = time.monotonic() + self.seconds
        waiting = reaching(proof, before) if self.seconds else ()
        found, nonce, size = _Found(), self.new_nonce(), 1
        while waiting and time.monotonic() < deadline:
            started = time.monotonic()
            self._batch(found, proof, waiting[:size], before.tree, f"{nonce} {len(found.units)}")
            waiting = waiting[size:]
            took = max(time.monotonic() - started, 0.01)
            size = max(1, min(4 * size, int(size * (deadline - time.monotonic()) / (2 * took))))
        why = f"not challenged within {self.seconds:g} seconds, though they reach the change: "
        left_out = (why + ", ".join(shortened(waiting)),) if waiting else ()
        return found.told(SUITE, nonce).model_copy(update={"left_out": left_out})

    def _batch(
        self, found: _Found, proof: Proof, names: tuple[str, ...], base: str, nonce: str
    ) -> None:
        there = self._files(proof, proof.base, names)
        key = base, names, tuple(there.expected.texts)
        if key not in self._steady:
            self._steady[key] = _steady(there, f"{nonce} base")
        units = missed = self._steady[key]
        here, lost, tries = replace(there, tree=proof.tree), {}, 0
        while missed and tries < _MOST_TRIES:
            tries += 1
            runs = here.run(patterns(missed, f"{nonce} {tries}"), missed)
            found.runs += runs
            # Cases that are gone have been told of already.
            reported = [run.there for run in runs if run.green is not None]
            gone = {unit.key for unit in missed if reported} - frozenset().union(*reported)
            said = {unit.key: seen(unit, runs) for unit in missed if unit.key not in gone}
            lost = {key: one for key, one in said.items() if one.red or not one.noticed}
            found.coarse |= {
                f"{there.little(unit, change)}; on the base it noticed": None
                for unit in missed
                if unit.key in said and (change := said[unit.key].coarse) is not None
            }
            missed = tuple(unit for unit in missed if unit.key in lost)
        found.units += units
        found.tries = max(found.tries, tries)
        found.unnoticed |= {unit.key for unit in missed}
        found.refused += [
            f"{there.wrong(unit, lost[unit.key])}; on the base it noticed" for unit in missed
        ]

    def _files(self, proof: Proof, tree: str, names: tuple[str, ...]) -> _TestFiles:
        expected = read_expectations(self.runtime, _texts(proof, names), self.timeout_s)
        return _TestFiles(self.runtime, proof, tree, names, expected, self.timeout_s, tree)


def _steady(files: _TestFiles, nonce: str) -> tuple[Unit, ...]:
    """Give the tests that are red on a base whenever they are falsified, and never otherwise."""
    started = time.monotonic()
    true = files.run_once({}, ())
    files = files.within(1000 * (time.monotonic() - started))
    units = files.units(true) if true else ()
    runs = files.run(patterns(units, nonce), units)
    every = [(unit, seen(unit, runs)) for unit in units]
    return tuple(
        unit.model_copy(update={"changes": ()}) if found.coarse else unit
        for unit, found in every
        if found.steady
    )


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

    def wrong(self, unit: Unit, found: Seen) -> str:
        """Say what is wrong with a test."""
        return wrong(unit, found, self.expected, self.rule)

    def little(self, unit: Unit, change: Change) -> str:
        """Say of a test that it does not notice a small change."""
        return tells_little(unit, change, self.expected, self.rule)

    def run(self, plan: Sequence[Pattern], units: Sequence[Unit], cores: int = 1) -> list[Ran]:
        """Make the runs of a plan, so many at a time."""
        if cores == 1:
            return [ran(pattern, units, self.run_once(pattern, units)) for pattern in plan]
        # One place for all of them: they are one command of the gate.
        with self.runtime.place(), ThreadPoolExecutor(max_workers=cores) as pool:
            free = replace(self, runtime=replace(self.runtime, place=nullcontext))
            made = pool.map(lambda pattern: free.run_once(pattern, units), plan)
            return [ran(pattern, units, run) for pattern, run in zip(plan, made, strict=True)]

    def run_once(self, pattern: Pattern, units: Sequence[Unit]) -> PytestRun | None:
        """Run the files with a pattern of what is false."""
        handed = tables(pattern, units, self.expected, self.rule)
        setup, wait_s = self.proof.setup(), self.timeout_s
        with open_export(self.runtime, self.tree, self._overlay()) as export:
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


class Challenges:
    """Challenge what passed, once each, and hold what came of it."""

    def __init__(self, challenger: Challenger, proof: Proof, known: Known | None) -> None:
        self._challenger = challenger
        self._proof = proof
        self._known = known
        self.found: list[Challenged] = []

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for each in self.found for note in each.notes())

    def of_seeds(self, report: ValidatorReport, end: PytestEnd) -> ValidatorReport:
        """Challenge this task's seed tests, if they passed."""
        if not self._proof.seeds.own:
            return report
        return self._made(report, lambda: self._challenger.seeds(self._proof, end))

    def of_suite(self, report: ValidatorReport, before: SuiteRecord) -> ValidatorReport:
        """Challenge what the change can touch of the project's own tests, if they passed."""
        return self._made(report, lambda: self._challenger.suite(self._proof, before))

    def _made(
        self, report: ValidatorReport, challenge: Callable[[], Challenged]
    ) -> ValidatorReport:
        if self._known is None or not report.passed:
            return report
        known = self._known(report.name)
        if known is None:
            started = time.monotonic()
            made = challenge()
            spent = round(1000 * (time.monotonic() - started))
            known = made.model_copy(update={"duration_ms": spent})
        if not known.tests and not known.left_out:
            return report
        self.found.append(known)
        output = f"{known.render()}\n\n{report.output}".strip()
        return report.model_copy(update={"passed": known.passed, "output": output})

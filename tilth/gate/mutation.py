"""Mutants run: small faults planted one at a time in a change, and which of them a test notices.

Which mutants there are, and in what order they are tried, depends on the tree alone; how many, on
the time. Each runs on a copy of the tree of its own that holds no bytecode, behind the gate's wall.
What it finds is told; it never fails a case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from tilth.base.errors import UserError
from tilth.gate.added_lines import added_lines
from tilth.gate.evidence import Mutated
from tilth.gate.export import Runtime, open_export
from tilth.gate.mutants import Mutant, in_turn, mutants_of
from tilth.gate.overlay import place
from tilth.gate.pytest_config import PytestSetup, pytest_setup
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.seed_proof import Proof
from tilth.gate.steering import is_beside_tests, is_test_file, steers

_LOOK_EVERY_S = 0.2
# A mutant may loop for ever; one that takes this much longer than the tests do was noticed.
_PATIENCE = 5


@dataclass(frozen=True)
class Allowed:
    """Hold the time and the cores that mutants may use; `check` raises when a stop is wished."""

    seconds: float
    cores: int
    check: Callable[[], None]


def planted_in(proof: Proof) -> tuple[Mutant, ...]:
    """Give the mutants of a change, in the order in which they are tried."""
    return in_turn(mutant for path in _product(proof) for mutant in _mutants(proof, path))


def tests_of(proof: Proof) -> tuple[str, ...]:
    """Name the tests that should notice: this task's own, and those the change brings."""
    brought = (
        change.path
        for change in proof.trees.changes
        if change.status != "D"
        and is_test_file(change.path)
        and not proof.seeds.is_any(change.path)
    )
    left_out = frozenset(proof.overlay.removes)
    return (*proof.seeds.own, *(path for path in brought if path not in left_out))


def try_mutants(runtime: Runtime, proof: Proof, timeout_s: float, allowed: Allowed) -> Mutated:
    """Run the tests on one mutant after another, as many as the time allows."""
    mutants, tests = planted_in(proof), tests_of(proof)
    nothing = Mutated(not_run=len(mutants))
    if not mutants or not tests:
        return nothing
    try:
        trial = _Trial.of(runtime, proof, tests, timeout_s)
    except (UserError, OSError):
        # No pytest here, or no room for a copy: mutants are told of, never insisted on.
        return nothing
    return nothing if trial is None else _all(trial, mutants, allowed)


def _all(trial: _Trial, mutants: tuple[Mutant, ...], allowed: Allowed) -> Mutated:
    """Try them side by side, each core taking the next when it has done with one."""
    deadline = time.monotonic() + allowed.seconds
    noticed: dict[int, bool] = {}
    waiting = iter(enumerate(mutants))
    running: dict[Future[bool | None], int] = {}
    with ThreadPoolExecutor(max_workers=max(1, allowed.cores)) as pool:
        while True:
            allowed.check()
            while len(running) < max(1, allowed.cores) and time.monotonic() < deadline:
                index, mutant = next(waiting, (-1, None))
                if mutant is None:
                    break
                running[pool.submit(trial.notices, mutant, deadline)] = index
            if not running:
                break
            done, _ = wait(running, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            for future in done:
                index, found = running.pop(future), future.result()
                if found is not None:
                    noticed[index] = found
    survived = [mutants[index] for index in sorted(noticed) if not noticed[index]]
    return Mutated(
        tried=len(noticed),
        killed=sum(noticed.values()),
        not_run=len(mutants) - len(noticed),
        survived=tuple(f"{m.place} {m.before} → {m.after}" for m in survived),
    )


@dataclass(frozen=True)
class _Trial:
    """Hold what every mutant is tried with, and what passes without one."""

    runtime: Runtime
    proof: Proof
    tests: tuple[str, ...]
    setup: PytestSetup
    passing: frozenset[str]
    patience_s: float

    @classmethod
    def of(
        cls, runtime: Runtime, proof: Proof, tests: tuple[str, ...], timeout_s: float
    ) -> _Trial | None:
        """See what the tests do on the change as it is; None if nothing passes there."""
        read = [content.decode("utf-8", "replace") for content in _texts(proof, tests)]
        setup = pytest_setup(proof.read, read)
        with open_export(runtime, proof.tree, proof.overlay) as export:
            end = run_pytest(export, tests, setup, timeout_s)
        passing = _passed(end)
        patience = min(timeout_s, _PATIENCE * (1 + end.finished.duration_ms / 1000))
        if not passing:
            return None
        return cls(runtime, proof, tests, setup, passing, patience)

    def notices(self, mutant: Mutant, deadline: float) -> bool | None:
        """Tell whether a test notices a mutant; None if there was no time to tell."""
        source = self.proof.trees.read_tree(mutant.path)
        left = deadline - time.monotonic()
        if source is None or left <= 0:
            return None
        try:
            end = self._run(mutant, source, min(self.patience_s, left))
        except OSError:
            return None
        if end.finished.timed_out and left < self.patience_s:
            return None
        return not self.passing <= _passed(end)

    def _run(self, mutant: Mutant, source: bytes, timeout_s: float) -> PytestEnd:
        with open_export(self.runtime, self.proof.tree, self.proof.overlay) as export:
            place(export.path, mutant.path, mutant.planted(source))
            # The first test that notices is enough.
            return run_pytest(export, ("--maxfail=1", *self.tests), self.setup, timeout_s)


def _passed(end: PytestEnd) -> frozenset[str]:
    results = end.run.results if end.run else ()
    return frozenset(result.node for result in results if result.ending == "passed")


def _product(proof: Proof) -> Iterator[str]:
    left_out = frozenset(proof.overlay.removes)
    for change in proof.trees.changes:
        path = change.path
        if change.status == "D" or not path.endswith(".py") or path in left_out:
            continue
        if is_test_file(path) or is_beside_tests(path) or steers(path) or path in proof.seeds.run:
            continue
        yield path


def _mutants(proof: Proof, path: str) -> tuple[Mutant, ...]:
    after = proof.trees.read_tree(path)
    if after is None:
        return ()
    before = proof.trees.read_base(path) if path in proof.trees.base_files else None
    return mutants_of(path, after, added_lines(before, after))


def _texts(proof: Proof, tests: tuple[str, ...]) -> Iterator[bytes]:
    for path in tests:
        yield proof.seeds.run.get(path) or proof.trees.read_tree(path) or b""

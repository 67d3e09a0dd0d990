"""Evidence beyond the validators: the evaluator's probes and planted faults, run on a tree.

Each runs on a copy of the tree of its own, behind the gate's wall: a probe is no more trusted than
the worker's code. Which mutants there are, and in what order they are tried, depends on the tree
alone; how many, on the time. What is found is told; it never fails a case.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tilth.base.errors import UserError
from tilth.contract.evidence import MOST_PROBE_CHARS, Mutated, Probed, ProbeOutcome, shortened
from tilth.gate.export import Runtime, open_export
from tilth.gate.mutants import Mutant, added_lines, in_turn, mutants_of
from tilth.gate.overlay import Overlay, lay_out
from tilth.gate.pytest_config import pytest_setup
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.gate.seed_proof import Proof
from tilth.gate.steering import is_beside_tests, is_test_file, steers

PROBE = "tests/test_tilth_probe.py"
# A mutant may loop for ever; one that takes this much longer than the tests do was noticed.
_PATIENCE = 5


@dataclass(frozen=True)
class Trial:
    """Run tests on copies of the tree of a proof."""

    runtime: Runtime
    proof: Proof
    timeout_s: float

    def probe(self, text: str) -> Probed:
        """Run the text of one pytest file and say what pytest made of it."""
        if len(text) > MOST_PROBE_CHARS:
            return Probed(outcome=ProbeOutcome.TOO_LONG)
        content = text.encode("utf-8", "backslashreplace")
        try:
            end = self._run((PROBE,), [content], self.timeout_s, {PROBE: content})
        except (UserError, OSError) as error:
            # No pytest here, or no room for a copy: that is no reason to end a night's work.
            return Probed(outcome=ProbeOutcome.NOT_COLLECTED, output=str(error))
        return Probed(
            outcome=_outcome(end),
            output=shortened(end.finished.output),
            duration_ms=end.finished.duration_ms,
        )

    def mutants(self, seconds: float, cores: int, check: Callable[[], None]) -> Mutated:
        """Plant the faults of a change one at a time, as many as the time allows.

        `check` is called before each of them and raises when a stop is wished for.
        """
        seeds, removed = self.proof.seeds, self.proof.overlay.removes
        changes = (change for change in self.proof.trees.changes if change.status != "D")
        brought = [change.path for change in changes if change.path not in removed]
        # This task's own tests should notice, and those the change brings.
        own = [path for path in brought if is_test_file(path) and not seeds.is_any(path)]
        tests = (*seeds.own, *own)
        product = (path for path in brought if self._is_product(path))
        mutants = in_turn(mutant for path in product for mutant in self._planted(path))
        try:
            is_noticed = self._noticing(tests, seconds, check) if mutants and tests else None
        except (UserError, OSError):
            # Mutants are told of, never insisted on.
            is_noticed = None
        if is_noticed is None:
            return Mutated(not_run=len(mutants))
        with ThreadPoolExecutor(max_workers=max(1, cores)) as pool:
            ends = list(zip(mutants, pool.map(is_noticed, mutants), strict=True))
        survived = [mutant for mutant, noticed in ends if noticed is False]
        tried = [noticed for _, noticed in ends if noticed is not None]
        return Mutated(
            tried=len(tried),
            killed=sum(tried),
            not_run=len(mutants) - len(tried),
            survived=tuple(f"{m.place} {m.before} → {m.after}" for m in survived),
        )

    def _noticing(
        self, tests: tuple[str, ...], seconds: float, check: Callable[[], None]
    ) -> Callable[[Mutant], bool | None] | None:
        """Give what tells whether a test notices a mutant; None if nothing passes without one."""
        texts = [self.proof.seeds.run.get(path) or self._read(path) for path in tests]
        whole = self._run(tests, texts, self.timeout_s, {})
        passing, took = _passed(whole), whole.finished.duration_ms / 1000
        patience, deadline = min(self.timeout_s, _PATIENCE * (1 + took)), time.monotonic() + seconds

        def is_noticed(mutant: Mutant) -> bool | None:
            check()
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            placed = {mutant.path: mutant.planted(self._read(mutant.path))}
            try:
                # The first test that notices is enough.
                end = self._run(("--maxfail=1", *tests), texts, min(patience, left), placed)
            except OSError:
                return None
            ran_out = end.finished.timed_out and left < patience
            return None if ran_out else not passing <= _passed(end)

        return is_noticed if passing else None

    def _run(
        self, tests: tuple[str, ...], texts: list[bytes], wait_s: float, placed: dict[str, bytes]
    ) -> PytestEnd:
        words = [text.decode("utf-8", "replace") for text in texts]
        with open_export(self.runtime, self.proof.tree, self.proof.overlay) as export:
            lay_out(Overlay(places=placed), export.path)
            return run_pytest(export, tests, pytest_setup(self.proof.read, words), wait_s)

    def _is_product(self, path: str) -> bool:
        of_tests = is_test_file(path) or is_beside_tests(path) or path in self.proof.seeds.run
        return path.endswith(".py") and not of_tests and not steers(path)

    def _planted(self, path: str) -> tuple[Mutant, ...]:
        trees, after = self.proof.trees, self._read(path)
        before = trees.read_base(path) if path in trees.base_files else None
        return mutants_of(path, after, added_lines(before, after))

    def _read(self, path: str) -> bytes:
        return self.proof.trees.read_tree(path) or b""


def _passed(end: PytestEnd) -> frozenset[str]:
    results = end.run.results if end.run else ()
    return frozenset(result.node for result in results if result.ending == "passed")


def _outcome(end: PytestEnd) -> ProbeOutcome:
    if end.run is None:
        too_slow = end.finished.timed_out
        return ProbeOutcome.TIMED_OUT if too_slow else ProbeOutcome.NOT_COLLECTED
    own = {r.ending for r in end.run.results if r.node.startswith(f"{PROBE}::")}
    # A fixture that is missing, or a file that cannot be imported, says nothing of the change.
    if "failed" in own:
        return ProbeOutcome.FAILED
    whole = not any(result.ending == "error" for result in end.run.results)
    return ProbeOutcome.PASSED if whole and "passed" in own else ProbeOutcome.NOT_COLLECTED

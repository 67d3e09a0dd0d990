"""The proof of a suite: every change applied for real and put to the visible and the hidden tests.

A case holds when its visible tests are red on the base, every right change passes everything, and
every wrong one passes the visible tests and ruff but not the hidden tests. Never asks a model.

    python -m tilth.evalcheck.proof [DIR]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from enum import IntEnum
from pathlib import Path
from typing import TextIO

from tilth.base.values import Value
from tilth.contract.verdict import RejectionCategory
from tilth.evalcheck.cases import TESTS, EvalCase, EvalChange, Suite, load_suite, place_of
from tilth.evalcheck.tree import TIMEOUT_S, Ran, Tree, laid_out

BASE = "base"
SAID_LINES = 25


class PytestExit(IntEnum):
    """Name the exit codes of pytest that say something about the code under test."""

    PASSED = 0
    FAILED = 1
    NOT_COLLECTED = 2


# A module that is still to be written cannot be imported: that is red as well.
RED = {PytestExit.FAILED, PytestExit.NOT_COLLECTED}


class Fault(Value):
    """Say what does not hold of one change, or of the base, and what was said about it."""

    case: str
    place: str
    what: str
    said: str

    def __str__(self) -> str:
        lines = self.said.strip().splitlines()[-SAID_LINES:]
        head = f"{self.case} {self.place}: {self.what}"
        return "\n".join([head, *(f"    {line}" for line in lines)])


class CaseProof(Value):
    """Hold what came of proving one case."""

    case: EvalCase
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        counts = f"{len(self.case.rights)} right, {len(self.case.wrongs)} wrong"
        held = f"{len(self.faults)} DO NOT HOLD" if self.faults else "all hold"
        return f"{self.case.id} ({self.case.category}): {counts}: {held}"


def prove(suite: Suite) -> Iterator[CaseProof]:
    """Prove every case of a suite, a change on each core; give the cases in their order."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        started = [(case, _start(pool, case)) for case in suite.cases]
        try:
            for case, parts in started:
                found = [part.result() for part in parts]
                yield CaseProof(case=case, faults=tuple(fault for fault in found if fault))
        finally:
            pool.shutdown(cancel_futures=True)


def _start(pool: ThreadPoolExecutor, case: EvalCase) -> list[Future[Fault | None]]:
    changes = (pool.submit(prove_change, case, change) for change in case.changes)
    return [pool.submit(prove_base, case), *changes]


def prove_base(case: EvalCase, timeout_s: float = TIMEOUT_S) -> Fault | None:
    """Prove that the visible tests ask for something the base has not got."""
    with laid_out(case.base, timeout_s) as tree:
        tree.lay(case.visible, TESTS)
        ran = tree.test(sorted(case.visible))
    if ran.code in RED:
        return None
    return _fault(case, BASE, "the visible tests are not red before the change", ran)


def prove_change(case: EvalCase, change: EvalChange, timeout_s: float = TIMEOUT_S) -> Fault | None:
    """Prove that a change is what the suite says it is."""
    place = place_of(change)
    with laid_out(case.base, timeout_s) as tree:
        applied = tree.apply(change.patch)
        if applied.code != 0:
            return _fault(case, place, "the patch does not fit base/", applied)
        linted = tree.lint()
        if linted.code != 0:
            return _fault(case, place, "ruff finds it out", linted)
        prove_side = _prove_right if change.is_right else _prove_wrong
        return prove_side(case, place, tree)


def _prove_right(case: EvalCase, place: str, tree: Tree) -> Fault | None:
    tree.lay(case.visible, TESTS)
    tree.lay(case.hidden, TESTS)
    ran = tree.test()
    if ran.code == PytestExit.PASSED:
        return None
    return _fault(case, place, "said to be right, but a test fails", ran)


def _prove_wrong(case: EvalCase, place: str, tree: Tree) -> Fault | None:
    tree.lay(case.visible, TESTS)
    seen = tree.test()
    if seen.code != PytestExit.PASSED:
        return _fault(case, place, "said to pass the visible tests, but does not", seen)
    tree.lay(case.hidden, TESTS)
    judged = tree.test(sorted(case.hidden))
    if judged.code in RED:
        return None
    return _fault(case, place, "said to be wrong, but no hidden test fails", judged)


def _fault(case: EvalCase, place: str, what: str, ran: Ran) -> Fault:
    stopped = " (stopped: it took too long)" if ran.code is None else ""
    return Fault(case=case.id, place=place, what=what + stopped, said=ran.said)


def totals(proofs: Sequence[CaseProof]) -> list[str]:
    """Say for each category, and in all, how much is there and how much does not hold."""
    by_category = [
        _total(category, [proof for proof in proofs if proof.case.category is category])
        for category in RejectionCategory
    ]
    return [*by_category, _total("in all", proofs)]


def _total(name: str, proofs: Sequence[CaseProof]) -> str:
    rights = sum(len(proof.case.rights) for proof in proofs)
    wrongs = sum(len(proof.case.wrongs) for proof in proofs)
    faults = sum(len(proof.faults) for proof in proofs)
    held = f"{faults} do not hold" if faults else "all hold"
    return f"{name}: {len(proofs)} cases, {rights} right, {wrongs} wrong: {held}"


def report(suite: Suite, out: TextIO) -> int:
    """Prove a suite and say so line by line; give the exit code."""
    for problem in suite.problems:
        _say(out, f"{problem} (skipped)")
    proofs = []
    for proof in prove(suite):
        proofs.append(proof)
        _say(out, str(proof), *map(str, proof.faults))
    _say(out, *totals(proofs))
    return 1 if suite.problems or any(proof.faults for proof in proofs) else 0


def _say(out: TextIO, *lines: str) -> None:
    for line in lines:
        out.write(f"{line}\n")
    out.flush()


def main(arguments: Sequence[str]) -> int:
    """Prove the suite in the named directory, else the one that ships with Tilth."""
    if len(arguments) > 1:
        _say(sys.stderr, "usage: python -m tilth.evalcheck.proof [DIR]")
        return 2
    return report(load_suite(Path(arguments[0]) if arguments else None), sys.stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

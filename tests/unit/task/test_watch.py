"""The watch: the same fault at the same place, three times in a row."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.contract.verdict import Judged, LedgerEntry, Verdict, entry_of, harness_reject
from tilth.contract.verdict import RejectionCategory as Category
from tilth.task.watch import Standstill, find_standstill

JUDGED = Judged(
    ts="2026-11-16T22:15:30.000Z",
    task_id="T-001",
    iter=1,
    tree="a" * 40,
    diff_sha256="b" * 64,
    validators={},
)


def reject(*evidence: str, category: str = "weak_test") -> LedgerEntry:
    said: dict[str, Any] = {
        "verdict": "reject",
        "rejection_category": category,
        "concern": "c",
        "evidence": evidence,
        "next_step": "n",
    }
    return entry_of(Verdict(**said), JUDGED, model="m", threshold=0)


def accept(*evidence: str) -> LedgerEntry:
    said = {"verdict": "accept", "concern": "c", "evidence": evidence}
    verdict = Verdict.model_validate(said)
    return entry_of(verdict, JUDGED, model="m", threshold=0)


def harness(*, parse_failed: bool = False) -> LedgerEntry:
    return harness_reject(
        JUDGED, category=Category.WEAK_TEST, concern="c", next_step="n", parse_failed=parse_failed
    )


A = reject("a.py:f")
B = reject("b.py:g")
OTHER = reject("a.py:f", category="scope_creep")


@pytest.mark.parametrize(
    ("ledger", "still"),
    [
        ([], False),
        ([A, A], False),
        ([A, A, A], True),
        ([OTHER, A, A, A], True),
        ([A, A, A, A], True),
        ([A, A, OTHER], False),
        ([A, OTHER, A, A], False),
        ([A, A, A, OTHER], False),
        ([A, B, A], False),
        ([A, accept(), A, A], False),
        ([accept("a.py:f")] * 3, False),
        ([A, harness(), A, harness(parse_failed=True), A], True),
        ([A, A, harness()], False),
        ([harness(), harness(), harness()], False),
        ([reject(), reject(), reject()], False),
    ],
)
def test_three_in_a_row_of_one_kind_at_one_place_is_a_standstill(
    ledger: list[LedgerEntry], still: bool
) -> None:
    assert (find_standstill(ledger) is not None) is still


def test_a_standstill_names_the_fault_and_the_shared_places() -> None:
    ledger = [
        reject("b.py", "a.py:f", "c.py:1"),
        reject("c.py:9", "b.py:2"),
        reject("b.py", "c.py"),
    ]
    assert find_standstill(ledger) == Standstill(
        category="weak_test", places=("b.py", "c.py"), times=3
    )


@pytest.mark.parametrize(
    "pointer",
    [
        "src/a.py",
        "src/a.py:12",
        "src/a.py:f",
        "src/a.py::test_f",
        "`src/a.py:f`",
        "`src/a.py`: the loop",
        " src/a.py, line 12",
        "(src/a.py)",
        "./src/a.py:3",
        "see src/a.py:12.",
        "In src/a.py:f the value is lost",
    ],
)
def test_the_place_of_a_pointer_is_its_file(pointer: str) -> None:
    found = find_standstill([reject("src/a.py"), reject("src/a.py:f"), reject(pointer)])
    assert found is not None
    assert found.places == ("src/a.py",)


@pytest.mark.parametrize("pointer", ["", " ", ":", "src/a.pyx", "a.py", "src/a", "src"])
def test_a_pointer_elsewhere_is_another_place(pointer: str) -> None:
    assert find_standstill([reject("src/a.py"), reject("src/a.py"), reject(pointer)]) is None


def test_words_around_a_pointer_are_no_place() -> None:
    assert find_standstill([reject(f"See {name}.py:1") for name in ("a", "b", "c")]) is None
    assert find_standstill([reject("the test is thin")] * 3) is None


def test_a_file_without_a_suffix_is_a_place() -> None:
    found = find_standstill([reject("Makefile:lint"), reject("Makefile"), reject("Makefile:3")])
    assert found is not None
    assert found.places == ("Makefile",)

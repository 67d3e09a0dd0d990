"""What people have said, as worker and evaluator are shown it: headings and what stands below.

The words are the operator's own; only what a model asked stands in a block. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tilth.base.safe_text import folded
from tilth.contract.operator_requests import Answered
from tilth.contract.verdict import LedgerEntry, concern_id

Section = tuple[str, str]

OPERATOR_NOTE = (
    "Note from the operator, the person you work for. Where it differs from the task, it counts:"
    "\n\n{text}"
)


def for_worker(
    answers: Sequence[str], notes: Sequence[str], ledger: Sequence[LedgerEntry]
) -> Iterator[Section]:
    """Show the worker what people have said: first of all why the task is sent back."""
    yield "Sent back by the operator: settle this first", _first_concern(ledger)
    yield "Notes from the operator", "\n\n".join(notes)
    yield "Answers from the people you work for", "\n".join(f"- {answer}" for answer in answers)


def for_evaluator(
    answers: Sequence[Answered], notes: Sequence[str], block: Callable[[str, str], str]
) -> Iterator[Section]:
    """Show the evaluator what a person has ruled and what the worker was told."""
    parts = (f"{block('question', each.question)}\n\n{folded(each.answer)}" for each in answers)
    yield "Answers of the person this is for (they amend the contract)", "\n\n".join(parts)
    told = "Notes of the person this is for, to worker and evaluator (they amend the contract)"
    yield told, "\n\n".join(notes)


def _first_concern(ledger: Sequence[LedgerEntry]) -> str:
    """Give a person's rejects, unless a case was accepted since."""
    concerns: list[str] = []
    for index, entry in enumerate(ledger):
        if entry.accepted:
            concerns = []
        elif entry.source == "person":
            concerns.append(f"{concern_id(index)}: {entry.concern}")
    return "\n\n".join(concerns)

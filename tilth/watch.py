"""The watch: patterns over time that say an exchange no longer moves."""

from __future__ import annotations

from collections.abc import Sequence

from tilth.values import Value
from tilth.verdict import LedgerEntry

STAGNANT_AFTER = 3


class Standstill(Value):
    """Name a fault that keeps coming back at the same place."""

    category: str
    places: tuple[str, ...]
    times: int


def find_standstill(ledger: Sequence[LedgerEntry]) -> Standstill | None:
    """Tell whether the last evaluator rejections are the same category on the same place.

    Rejections of the harness neither count nor break the row; an accept breaks it.
    """
    row = [entry for entry in ledger if entry.source == "evaluator"][-STAGNANT_AFTER:]
    if len(row) < STAGNANT_AFTER or any(entry.accepted for entry in row):
        return None
    if len({entry.rejection_category for entry in row}) != 1:
        return None
    shared = set.intersection(*(_places(entry) for entry in row))
    if not shared:
        return None
    return Standstill(
        category=str(row[-1].rejection_category), places=tuple(sorted(shared)), times=len(row)
    )


def _places(entry: LedgerEntry) -> set[str]:
    return {place for item in entry.evidence if (place := _file_of(item))}


def _file_of(pointer: str) -> str:
    words = [word.strip("`'\"()[],;").split(":", 1)[0].rstrip(".") for word in pointer.split()]
    if len(words) > 1:
        # In a sentence ("see a.py:12") a plain word is no place.
        words = [word for word in words if "." in word or "/" in word]
    return words[0].removeprefix("./") if words else ""

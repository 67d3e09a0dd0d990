"""The watch: patterns over time that say an exchange no longer moves."""

from __future__ import annotations

from collections.abc import Sequence

from tilth.values import Value
from tilth.verdict import LedgerEntry

STAGNANT_AFTER = 3

_VERIFIED = (
    "[You ran this same command before, with the same exit status ({exit_code}) on the same files: "
    "this state is already verified. {next_step}]"
)
_SUBMIT = "If every criterion is met, the next step is `submit_case`."
_CHANGE = "Change something first; once every criterion is met, the next step is `submit_case`."


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


class Rounds:
    """Remember how each command ended last, and what the files said then."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, str]] = {}

    def reminder(self, command: str, exit_code: int, files: str | None) -> str | None:
        """Give one line if a command came to the same end on the same files as the last time.

        `files` is a fingerprint of the worktree's content; without one nothing is known.
        """
        name = command.strip()
        before = self._last.pop(name, None)
        if files is None:
            return None
        self._last[name] = (exit_code, files)
        if before != (exit_code, files):
            return None
        return _VERIFIED.format(exit_code=exit_code, next_step=_CHANGE if exit_code else _SUBMIT)


def _places(entry: LedgerEntry) -> set[str]:
    return {place for item in entry.evidence if (place := _file_of(item))}


def _file_of(pointer: str) -> str:
    words = [word.split(":", 1)[0].strip("`'\"()[],;").rstrip(".") for word in pointer.split()]
    if len(words) > 1:
        # In a sentence ("see a.py:12") a plain word is no place.
        words = [word for word in words if "." in word or "/" in word]
    return words[0].removeprefix("./") if words else ""

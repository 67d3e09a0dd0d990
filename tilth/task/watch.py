"""The watch: patterns over time that say an exchange no longer moves."""

from __future__ import annotations

from collections.abc import Sequence

from tilth.base.values import Value, canonical
from tilth.contract.verdict import LedgerEntry
from tilth.model.messages import ToolCall

STAGNANT_AFTER = 3

REFUSED_AT = 3
ENDED_AT = 6

_VERIFIED = (
    "[This task's acceptance tests passed on exactly these files. If every criterion is met, call "
    "`submit_case`.]"
)
_UNCHANGED = "[Nothing has changed since this failed the same way: no file differs.]"
_REPEATED = (
    "[Not run: this is call number {times} in a row with exactly these arguments, and no file has "
    "changed in between, so it would give the above again. Do something else: read another file, "
    "change one with `edit_file` or `write_file`, or call `submit_case` if every criterion is met.]"
)


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


def verification_tail(last_edit: int, case: int) -> int:
    """Count the iterations strictly between an edit and the case made for it."""
    return max(0, case - last_edit - 1) if last_edit else 0


class Verified:
    """Remember on which content of the files this task's acceptance tests passed, and what failed.

    Content is named by a fingerprint; without one nothing is known. What was judged since is
    not reminded of again: it is not what `submit_case` is to be called on.
    """

    def __init__(self) -> None:
        self._passed: set[str] = set()
        self._judged: set[str] = set()
        self._failed: set[tuple[str, str]] = set()

    @property
    def has_passed(self) -> bool:
        return not self._passed <= self._judged

    def remark(self, files: str | None, *, passing: bool, failure: str | None) -> str | None:
        """Give one true line on a command that shows nothing new, or nothing at all."""
        if files is None:
            return None
        if files in self._passed - self._judged:
            return _VERIFIED
        if passing:
            self._passed.add(files)
        if failure is None:
            return None
        again = (files, failure) in self._failed
        self._failed.add((files, failure))
        return _UNCHANGED if again else None

    def judge(self) -> None:
        """Take in that a case was sent back."""
        self._judged |= self._passed


class Repeats:
    """Count how often one call was made in a row, and keep what it gave."""

    def __init__(self) -> None:
        self._call: tuple[str, str] | None = None
        self._given = ""
        self._changed_nothing = False
        self.times = 0

    def count(self, call: ToolCall) -> bool:
        """Take in a call; tells whether it repeats the one before."""
        made = (call.name, canonical(call.arguments))
        again = made == self._call
        self.times = self.times + 1 if again else 1
        if not again:
            self._call, self._given, self._changed_nothing = made, "", False
        return again

    @property
    def is_idle(self) -> bool:
        """Tell whether the call would only give again what it gave."""
        return self._changed_nothing and self.times >= REFUSED_AT

    @property
    def is_endless(self) -> bool:
        return self.is_idle and self.times >= ENDED_AT

    def keep(self, given: str, *, changed_nothing: bool) -> None:
        """Remember what the call gave, and whether it left the files as they were."""
        self._given, self._changed_nothing = given, changed_nothing

    def refusal(self) -> str:
        """Give back what was given, and say why the call was not made."""
        return f"{self._given}\n\n{_REPEATED.format(times=self.times)}"


def _places(entry: LedgerEntry) -> set[str]:
    return {place for item in entry.evidence if (place := _file_of(item))}


def _file_of(pointer: str) -> str:
    words = [word.split(":", 1)[0].strip("`'\"()[],;").rstrip(".") for word in pointer.split()]
    if len(words) > 1:
        # In a sentence ("see a.py:12") a plain word is no place.
        words = [word for word in words if "." in word or "/" in word]
    return words[0].removeprefix("./") if words else ""

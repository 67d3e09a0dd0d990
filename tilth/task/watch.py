"""The watch: patterns over time that say an exchange no longer moves."""

from __future__ import annotations

from collections.abc import Sequence

from tilth.base.values import Value, canonical
from tilth.contract.verdict import LedgerEntry
from tilth.model.messages import ToolCall
from tilth.task.checks import Check, passed, ran_none, ran_tests

STAGNANT_AFTER = 3

REFUSED_AT = 3
ENDED_AT = 6

_VERIFIED = (
    "[This check passed before on the same files: this state is already verified. If every "
    "criterion is met, the next step is `submit_case`.]"
)
_NO_TEST_RAN = "[No test was run, so nothing was shown to pass.]"
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
    """Remember which checks passed on which content of the files."""

    def __init__(self) -> None:
        self._passed: dict[str, list[tuple[Check, int]]] = {}

    def remark(
        self, command: str, checks: Sequence[Check], exit_code: int, output: str, files: str | None
    ) -> str | None:
        """Give one line on a check that shows nothing new, or nothing at all.

        `files` is a fingerprint of the worktree's content; without one nothing is known.
        """
        if ran_none(checks, output):
            return _NO_TEST_RAN
        if not checks or files is None or not passed(command, checks, exit_code, output):
            return None
        before = self._passed.setdefault(files, [])
        count = ran_tests(output)
        known = all(any(_shows(old, check, count) for old in before) for check in checks)
        before += [(check, count) for check in checks]
        return _VERIFIED if known else None


def _shows(old: tuple[Check, int], check: Check, count: int) -> bool:
    """Tell whether an earlier run showed this already, by what it ran or by how many passed."""
    earlier, tests = old
    same_tests = tests == count > 0 and check.runs_all_of(earlier)
    return earlier.covers(check) or same_tests


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

"""The shown change: what an evaluator sees of a diff, and what it does not see.

What is told to the evaluator and what is recorded as not shown are one value, made once. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tilth.base.values import Value
from tilth.task.changed_files import ChangedFile, changed_files, listing

DIFF_LIMIT = 200_000
LIST_LIMIT = 100_000
UNSHOWN_LIMIT = 20_000
_INDEX_LINE = re.compile(r"^index [0-9a-f]+\.\.[0-9a-f]+(?: \d+)?\n", re.MULTILINE)

_NO_FILE = "No file was changed."
_LIST_CUT = "THE LIST OF FILES IS CUT: some are only summed up"

Block = Callable[[str, str], str]


class ShownChange(Value):
    """Hold a diff as it is shown: its text, its files, and those that are not shown whole."""

    text: str
    length: int
    files: tuple[str, ...]
    unshown: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        return self.length == len(self.text) and not self.unshown

    def note(self, block: Block) -> str:
        """Say what was changed and whether all of it is shown."""
        listed = block("changed files", "\n".join(self.files)) if self.files else _NO_FILE
        head = f"Every file that was changed, with the lines added and removed:\n\n{listed}\n\n"
        if not self.is_whole:
            return f"{head}{self.cut_note(block)}"
        # The whole diff of one file says all that the list would.
        return f"{'' if len(self.files) == 1 else head}The whole cumulative diff of this task:"

    def cut_note(self, block: Block) -> str:
        """Say that not all is shown, and name what is not."""
        shown = f"only its first {len(self.text)} of {self.length} characters are shown"
        said = f"THE DIFF IS CUT: {shown}" if self.length > len(self.text) else _LIST_CUT
        missing = block("left out", "\n".join(self.unshown))
        return f"{said}. What you cannot see you cannot vouch for. Not shown:\n\n{missing}"

    def diff(self, block: Block) -> str:
        return block("diff", self.text or "(no change)")


def shown_change(diff: str, paths: Iterable[str] = ()) -> ShownChange:
    """Decide what is shown of a diff.

    `paths` are all that were changed, where the diff at hand does not hold them all.
    """
    # The lines that only git reads are left out.
    plain = _INDEX_LINE.sub("", diff)
    held = changed_files(plain)
    known = {file.path for file in held}
    files = (*held, *(_unread(path) for path in paths if path not in known))
    lines = listing(files, LIST_LIMIT)
    named = {file.line() for file in files}
    summed_up = tuple(line for line in lines if line not in named)
    cut = [file for file in files if file.end > DIFF_LIMIT]
    return ShownChange(
        text=plain[:DIFF_LIMIT],
        length=len(plain),
        files=lines,
        unshown=_unshown(cut) if cut else summed_up,
    )


def _unread(path: str) -> ChangedFile:
    return ChangedFile(path=path, counted=False, start=DIFF_LIMIT, end=DIFF_LIMIT + 1)


def _unshown(cut: list[ChangedFile]) -> tuple[str, ...]:
    in_part = [f"{file.line()}, in part" for file in cut[:1] if file.start < DIFF_LIMIT]
    return (*in_part, *listing(cut[len(in_part) :], UNSHOWN_LIMIT))

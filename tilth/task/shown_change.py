"""The shown change: what an evaluator sees of a diff, and what it does not see.

What is told to the evaluator and what is recorded as not shown are one value, made once. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from tilth.base.hidden_characters import in_plain_sight
from tilth.base.values import Value
from tilth.task.changed_files import ChangedFile, changed_files, listing

DIFF_LIMIT = 200_000
LIST_LIMIT = 100_000
LED_LIMIT = 60_000
UNSHOWN_LIMIT = 20_000
_INDEX_LINE = re.compile(r"^index [0-9a-f]+\.\.[0-9a-f]+(?: \d+)?\n", re.MULTILINE)

_NO_FILE = "No file was changed."
_REWRITTEN = (
    "In it a character that is not seen, or that reads as another one, stands as its number (like "
    "`\\u202e`), a long run of blanks is counted, and a line that begins with ↪ goes on the last."
)
_LIST_CUT = "THE LIST OF FILES IS CUT: some are only summed up"

Block = Callable[[str, str], str]
Led = Callable[[str], str]


class ShownChange(Value):
    """Hold a diff as it is shown: its text, its files, and those that are not shown whole."""

    text: str
    length: int
    files: tuple[str, ...]
    unshown: tuple[str, ...] = ()
    # Whether it had to be written otherwise than it is, to be seen.
    rewritten: bool = False

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
        shown = block("diff", self.text or "(no change)")
        return f"{_REWRITTEN}\n\n{shown}" if self.rewritten else shown


def shown_change(diff: str, paths: Iterable[str] = (), led: Led | None = None) -> ShownChange:
    """Decide what is shown of a diff, without the lines that only git reads.

    `paths` are all that were changed, where the diff at hand does not hold them all. `led` gives
    what stands where a link leads; without it, as an old session's rules have it, all is as it is.
    """
    files = changed_files(diff)
    parts = [diff[: files[0].start] if files else diff]
    held: list[ChangedFile] = []
    end, rewritten = len(parts[0]), False
    for file in files:
        plain = part = _INDEX_LINE.sub("", diff[file.start : file.end])
        if led is not None:
            plain += led(file.path) if file.link else ""
            part = in_plain_sight(plain)
            rewritten |= part != plain
        start, end = end, end + len(part)
        held.append(file.model_copy(update={"start": start, "end": end}))
        parts.append(part)
    text = "".join(parts)
    known = {file.path for file in held}
    every = (*held, *(_unread(path) for path in paths if path not in known))
    lines = listing(every, LIST_LIMIT)
    named = {file.line() for file in every}
    summed_up = tuple(line for line in lines if line not in named)
    cut = [file for file in every if file.end > DIFF_LIMIT]
    return ShownChange(
        text=text[:DIFF_LIMIT],
        length=len(text),
        files=lines,
        unshown=_unshown(cut) if cut else summed_up,
        rewritten=rewritten,
    )


def led_to(path: str, to: str | None, content: bytes | None, files: Iterable[str]) -> str:
    """Show what stands where a link leads, below the link itself: a file, or names below it."""
    if to is None:
        return f"| {path} leads out of the project, to all of it, or nowhere\n"
    if content is None:
        below = [name for name in files if name.startswith(f"{to}/")]
        text = "\n".join(below)
        head = f"| {path} leads to {to}, with {len(below)} files below it:"
    elif b"\0" in content[:8192]:
        return f"| {path} leads to {to}, a binary file of {len(content)} bytes\n"
    else:
        text = content.decode("utf-8", "backslashreplace")
        head = f"| {path} leads to {to}, which holds:"
    rest = [f"[cut: {len(text) - LED_LIMIT} more characters]"] if len(text) > LED_LIMIT else []
    lines = [*text[:LED_LIMIT].split("\n"), *rest]
    return "\n".join([head, *(f"|   {line}" for line in lines), ""])


def _unread(path: str) -> ChangedFile:
    return ChangedFile(path=path, counted=False, start=DIFF_LIMIT, end=DIFF_LIMIT + 1)


def _unshown(cut: list[ChangedFile]) -> tuple[str, ...]:
    in_part = [f"{file.line()}, in part" for file in cut[:1] if file.start < DIFF_LIMIT]
    return (*in_part, *listing(cut[len(in_part) :], UNSHOWN_LIMIT))

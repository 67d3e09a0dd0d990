"""The lines of a unified diff, with the numbers they have in the old and in the new file.

Reads what git wrote, whatever stands in the lines themselves; judges nothing. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from tilth.base.values import Value
from tilth.git.changes import path_in_diff

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class HunkLine(NamedTuple):
    """Hold one line of a hunk, its number before and after, and which of the two it stands in."""

    path: str
    before: int
    after: int
    mark: str
    text: str


class AddedLine(Value):
    """Hold one line that a diff adds."""

    path: str
    number: int
    text: str


def added_lines(diff: str) -> Iterator[AddedLine]:
    """Read the added lines of a unified diff with the numbers they have in the new file."""
    for line in hunk_lines(diff):
        if line.mark == "+":
            yield AddedLine(path=line.path, number=line.after, text=line.text)


def hunk_lines(diff: str) -> Iterator[HunkLine]:
    """Read all lines of a unified diff's hunks."""
    path, before, after = "", 0, 0
    left_before = left_after = 0
    for line in diff.split("\n"):
        if left_before <= 0 and left_after <= 0:
            if line.startswith("+++ "):
                path = path_in_diff(line[4:]).removeprefix("b/")
            elif match := _HUNK.match(line):
                before, after = int(match[1]), int(match[3])
                left_before, left_after = int(match[2] or "1"), int(match[4] or "1")
            continue
        mark = line[:1] if line.startswith(("+", "-", "\\")) else " "
        if mark == "\\":
            continue
        yield HunkLine(path, before, after, mark, line[1:])
        if mark != "+":
            before, left_before = before + 1, left_before - 1
        if mark != "-":
            after, left_after = after + 1, left_after - 1

"""Criteria in tests: which acceptance criteria a test file names, by its comments `# AC-<n>`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tilth.gate.pristine import SeedReading, read_here

_NAMED = re.compile(r"\bAC-([0-9]+)\b")


def named_criteria(text: str, reading: SeedReading | None = None) -> frozenset[int]:
    """Give the criteria that comments in, on or right above a test of this file name.

    A comment elsewhere names nothing: a list at the top of a file would prove no criterion.
    `reading` is what the interpreter that will run it reads in it, if that is another one.
    """
    held = reading or read_here(text.encode("utf-8"))
    lines = {line for first, last in _spans(held) for line in range(first, last + 1)}
    return frozenset(
        int(number)
        for line, comment in held.comments.items()
        if line in lines
        for number in _NAMED.findall(comment)
    )


def _spans(held: SeedReading) -> Iterator[tuple[int, int]]:
    """Give the lines of every test, with the comments that stand right above it."""
    for first, last in held.spans.values():
        above = first
        while above - 1 in held.comments:
            above -= 1
        yield above, last

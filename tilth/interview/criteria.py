"""Criteria in tests: which acceptance criteria a test file names, by its comments `# AC-<n>`."""

from __future__ import annotations

import re

from tilth.gate.pristine import SeedReading, read_here
from tilth.gate.staying import comments_of

_NAMED = re.compile(r"\bAC-([0-9]+)\b")


def named_criteria(text: str, reading: SeedReading | None = None) -> frozenset[int]:
    """Give the criteria that comments in, on or right above a test of this file name.

    A comment elsewhere names nothing: a list at the top of a file would prove no criterion.
    `reading` is what the interpreter that will run it reads in it, if that is another one.
    """
    held = reading or read_here(text.encode("utf-8"))
    comments = {comment for _, comment in comments_of(held)}
    return frozenset(int(number) for comment in comments for number in _NAMED.findall(comment))

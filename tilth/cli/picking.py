"""The picker: one question on a terminal, with numbered choices."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tilth.cli.edge import tell
from tilth.errors import Interrupted
from tilth.inert import one_line


def can_ask() -> bool:
    """Tell whether there is somebody to ask."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


def pick(question: str, choices: Sequence[str]) -> int:
    """Ask until one of the choices is named; gives its place, counted from 0."""
    tell(question)
    for number, choice in enumerate(choices, start=1):
        tell(f"  {number}  {one_line(choice)}")
    while True:
        sys.stderr.write(f"Type a number from 1 to {len(choices)}: ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise Interrupted("nothing was chosen")
        word = line.strip()
        if word.isascii() and word.isdigit() and 1 <= int(word) <= len(choices):
            return int(word) - 1

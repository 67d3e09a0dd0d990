"""The picker: one question on a terminal, with numbered choices, a default and a way out."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tilth.base.errors import Interrupted
from tilth.base.safe_text import one_line
from tilth.show.notices import tell

_LEAVE = frozenset({"q", "quit", "/quit"})


def can_ask() -> bool:
    """Tell whether there is somebody to ask."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


def pick(question: str, choices: Sequence[str], default: int = 0) -> int:
    """Ask until one of the choices is named; gives its place, counted from 0.

    An empty line takes the default; `q` raises Interrupted.
    """
    tell(question)
    for number, choice in enumerate(choices, start=1):
        tell(f"  {number}  {one_line(choice)}")
    while True:
        asked = f"Type a number from 1 to {len(choices)}; Enter takes {default + 1}, q leaves: "
        sys.stderr.write(asked)
        sys.stderr.flush()
        line = sys.stdin.readline()
        word = line.strip().casefold()
        if not line or word in _LEAVE:
            raise Interrupted("nothing was chosen")
        if not word:
            return default
        if word.isascii() and word.isdigit() and 1 <= int(word) <= len(choices):
            return int(word) - 1

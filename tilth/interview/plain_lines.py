"""Plain lines: reads an answer on a terminal that can do nothing but print and send lines."""

from __future__ import annotations

import os
import select
import sys
from typing import TextIO

from tilth.interview.commands import command_in

_PASTE_S = 0.05
_GOES_ON = ". "


class PlainLines:
    """Read line by line; what stands there already is kept in front of what is typed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def read(self, prompt: str, *, text: str = "", block: bool = False) -> str:
        lines = [*text.splitlines(), self._line(prompt)]
        while self._goes_on(lines, block=block):
            if not block:
                lines[-1] = lines[-1].removesuffix("\\")
            lines.append(self._line(_GOES_ON))
        return "\n".join(lines)

    def remember(self, answer: str) -> None:
        """Keep no history: there is no key that would bring it back."""

    def forget_keys(self) -> None:
        while _more_is_there():
            sys.stdin.readline()

    def _goes_on(self, lines: list[str], *, block: bool) -> bool:
        last = lines[-1]
        if block:
            return bool(last.strip()) and command_in(last) is None
        return last.endswith("\\") or _more_is_there()

    def _line(self, prompt: str) -> str:
        self._stream.write(prompt)
        self._stream.flush()
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError:
            # Not text: the same as nothing, and asked for again.
            return ""
        if not line:
            raise KeyboardInterrupt
        return line.rstrip("\n")


def _more_is_there() -> bool:
    """Tell whether a paste has left more lines; they belong to the same answer."""
    try:
        handle = sys.stdin.fileno()
        if not os.isatty(handle):
            return False
        ready, _, _ = select.select([handle], [], [], _PASTE_S)
    except (OSError, ValueError):
        return False
    return bool(ready)

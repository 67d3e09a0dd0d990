"""The keyboard while a live screen is drawn: what is typed is not shown, nor left for the shell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO


@contextmanager
def quiet_keys(stream: TextIO | None) -> Iterator[None]:
    """Turn echo off on a terminal, and drop what was typed; Ctrl-C and Ctrl-Z work as ever."""
    import termios

    keyboard, before = _made_quiet(stream)
    try:
        yield
    finally:
        if before is not None:
            with suppress(OSError, termios.error):
                termios.tcsetattr(keyboard, termios.TCSAFLUSH, before)


def _made_quiet(stream: TextIO | None) -> tuple[int, list[Any] | None]:
    """Give the keyboard and how it was set; None where it is none of ours to set."""
    import termios

    try:
        keyboard = stream.fileno() if stream is not None and stream.isatty() else -1
        # From the background a change of the terminal would stop the whole program.
        if keyboard < 0 or os.tcgetpgrp(keyboard) != os.getpgrp():
            return keyboard, None
        before = termios.tcgetattr(keyboard)
        quiet = [*before]
        quiet[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, quiet)
    except (OSError, ValueError, termios.error):
        return -1, None
    return keyboard, before

"""`python -m tilth` and the `tilth` command."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Run the command line."""
    hold_streams()
    name_interpreter_plainly()

    from tilth.cli.app import app
    from tilth.show.pen import hold_back, settle, speak_plainly

    hold_back()
    speak_plainly(sys.stdout)
    speak_plainly(sys.stderr)
    try:
        app()
    except OSError as error:
        # A command answers for itself: this is a help, a version or a usage that cannot be printed.
        from tilth.cli.edge import complain_of_system
        from tilth.contract.outcomes import ExitCode

        complain_of_system(error)
        sys.exit(ExitCode.USAGE)
    finally:
        # What a full terminal has not taken by now would fail at exit, with Python's own exit code.
        settle(sys.stderr)


def hold_streams() -> None:
    """Put nothing in the place of a standard stream that was closed when this was started.

    What is printed there goes nowhere, as was asked for, and what is read there is empty. Otherwise
    the next file that is opened would take its number, and a child would write into that file.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            _open_nothing_as(number)
            held = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115  # to the end
            setattr(sys, name, held)


def name_interpreter_plainly() -> None:
    """Leave no `..` in what Python calls itself: a sandbox has not every directory on that way.

    A link that stands after the last of them stays: a virtual environment is known by its own.
    """
    for name in ("executable", "prefix", "exec_prefix"):
        parts = Path(getattr(sys, name) or "").parts
        if ".." in parts:
            last = len(parts) - parts[::-1].index("..")
            whole = os.path.join(os.path.realpath(os.path.join(*parts[:last])), *parts[last:])
            setattr(sys, name, whole)


def _open_nothing_as(number: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing == number:
        os.set_inheritable(number, True)
    else:
        os.dup2(nothing, number)
        os.close(nothing)


if __name__ == "__main__":
    main()

"""`python -m tilth` and the `tilth` command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line."""
    if sys.stdout is None:
        # Started with its output closed: what is printed goes nowhere, as was asked for.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # held to the end

    from tilth.cli.app import app
    from tilth.show.pen import speak_plainly

    speak_plainly(sys.stdout)
    speak_plainly(sys.stderr)
    app()


if __name__ == "__main__":
    main()

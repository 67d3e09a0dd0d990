"""The interpreter: which Python runs the tests and comes first on the worker's PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tilth.git import trees
from tilth.git.source import SourceRepo
from tilth.sandbox.interpreters import Interpreter, fault_of, named_places


def find_python(
    wanted: Path | None,
    source: SourceRepo,
    hidden: tuple[Path, ...],
    made: tuple[Path, ...] = (),
) -> Interpreter:
    """Take the one asked for, else one that setup made, else the source repo's own, else Tilth's.

    `made` are virtual environments. The path is not resolved: a virtual environment is known by
    where its link stands. One that the repository tracks is its author's file, not an interpreter.
    """
    if wanted is not None:
        return Interpreter(path=wanted, shown=named_places(wanted, hidden))
    own = source.root / ".venv"
    faults = {}
    for venv in (*made, own):
        python = venv / "bin" / "python"
        if not os.path.lexists(python):
            continue
        is_tracked = venv == own and trees.holds(source, source.head, ".venv")
        fault = "it is tracked by git" if is_tracked else fault_of(venv, hidden)
        if fault is None:
            return Interpreter(path=python, shown=(venv,))
        faults[python] = fault
    notes = (
        f"note: {python} is not used: {fault}; if you trust it, set TILTH_PYTHON={python}"
        for python, fault in faults.items()
    )
    return Interpreter(path=Path(sys.executable), note=next(notes, None))

"""The interpreter: which Python runs the tests and comes first on the worker's PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def find_python(wanted: Path | None, source: Path, made: tuple[Path, ...] = ()) -> Path:
    """Take the one asked for, else one that setup made, else the source repo's own, else Tilth's.

    `made` are virtual environments. The path is not resolved: a virtual environment is known by
    where its link stands.
    """
    if wanted is not None:
        return wanted
    owned = [venv / "bin" / "python" for venv in (*made, source / ".venv")]
    usable = (python for python in owned if os.access(python, os.X_OK))
    return next(usable, Path(sys.executable))

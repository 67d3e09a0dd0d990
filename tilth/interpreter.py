"""The interpreter: which Python runs the tests and comes first on the worker's PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def find_python(wanted: Path | None, source: Path) -> Path:
    """Take the one asked for, else the source repo's own, else Tilth's.

    The path is not resolved: a virtual environment is known by where its link stands.
    """
    if wanted is not None:
        return wanted
    own = source / ".venv" / "bin" / "python"
    return own if os.access(own, os.X_OK) else Path(sys.executable)

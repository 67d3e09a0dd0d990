"""The program's own name: how it can be typed where it was started."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from tilth.show.notices import tell


def program() -> str:
    """Name this program as it can be typed here."""
    beside = Path(sys.executable).with_name("tilth")
    found = shutil.which("tilth")
    if found is not None and Path(found).resolve() == beside.resolve():
        return "tilth"
    if os.access(beside, os.X_OK):
        here = Path.cwd()
        near = beside.relative_to(here) if beside.is_relative_to(here) else beside
        return shlex.quote(str(near))
    return f"{shlex.quote(sys.executable)} -m tilth"


def say_where_it_is() -> None:
    """Tell a person whose shell does not know `tilth` what to type in its place."""
    if sys.stdout is not None and sys.stdout.isatty() and (typed := program()) != "tilth":
        tell(f"note: `tilth` is not on your PATH; here it is {typed}")

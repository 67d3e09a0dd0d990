"""Repositories that are made once: each later one with the same content is a copy of the first."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path

_made: dict[Hashable, Path] = {}


def lay_out(root: Path, make: Callable[[Path], None], *content: Hashable) -> None:
    """Have at `root`, which must not be there yet, what `make` puts into an empty directory."""
    key = (make.__module__, make.__qualname__, *content)
    if key not in _made:
        _made[key] = _new_directory()
        make(_made[key])
        for sample in _made[key].glob("**/hooks/*.sample"):
            sample.unlink()  # half of all files, and of no use to anybody
    shutil.copytree(_made[key], root, symlinks=True)
    if (root / ".git" / "index").exists():
        # It knows files by their inodes and times too; those of a new checkout are in step.
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=root, env=clean, check=True)


def _new_directory() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tilth-repos-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)

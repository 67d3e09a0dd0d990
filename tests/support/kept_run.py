"""A finished run that many tests change: run once, and laid out anew for each of them.

It is laid out at its own place, for its files, its repository and its worktree name that place.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from support.flow_site import Run


@dataclass(frozen=True)
class KeptRun:
    """Hold a run, and a copy of all it left."""

    run: Run
    copy: Path

    @classmethod
    def of(cls, run: Run, copy: Path) -> KeptRun:
        shutil.copytree(run.site.root, copy, symlinks=True)
        return cls(run, copy)

    def lay_out(self) -> Run:
        """Put everything back as the run left it."""
        shutil.rmtree(self.run.site.root)
        shutil.copytree(self.copy, self.run.site.root, symlinks=True)
        return self.run

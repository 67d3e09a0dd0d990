"""Ruff on one file, right after it was changed.

Silent when the file is clean and when ruff cannot be run: a check that fails to start is the
harness's business, not the worker's. It never changes a file.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tilth.errors import ToolError
from tilth.sandbox import Access, Command, Confinement, run
from tilth.tooling import HookRun

_TIMEOUT_S = 10.0
_KEEP_BYTES = 4096
# The project may have set `fix = true`; a hook that edits behind the worker's back would be worse
# than none.
_ARGUMENTS = (
    "check",
    "--quiet",
    "--no-fix",
    "--no-cache",
    "--force-exclude",
    "--output-format=concise",
    "--",
)


@dataclass(frozen=True)
class Linter:
    """Run ruff with the project's own configuration, behind the same wall as the worker."""

    ruff: Path
    root: Path
    confinement: Confinement
    access: Access
    env: Mapping[str, str]
    timeout_s: float = _TIMEOUT_S

    def check(self, path: str) -> HookRun:
        command = Command(
            argv=(str(self.ruff), *_ARGUMENTS, path),
            cwd=self.root,
            env=dict(self.env),
            timeout_s=self.timeout_s,
        )
        try:
            finished = run(self.confinement.wrap(command, self.access), keep_bytes=_KEEP_BYTES)
        except ToolError as error:
            return HookRun(hook="ruff", path=path, output=str(error), exit_code=None)
        output = finished.output
        if finished.timed_out:
            output += f"[ruff was stopped after {self.timeout_s:g} s]"
        return HookRun(hook="ruff", path=path, output=output, exit_code=finished.exit_code)


def find_ruff() -> Path | None:
    """Find the ruff binary that came with Tilth: starting it as a module costs far more."""
    try:
        return Path(importlib.import_module("ruff").find_ruff_bin())
    except (ImportError, FileNotFoundError):
        return None

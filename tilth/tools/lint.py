"""Ruff on one file, right after it was changed.

Judges as the gate will: by the project's own configuration, and only what is new since the last
commit. Silent when nothing is, and when ruff cannot be run: a check that fails to start is the
harness's business, not the worker's. It never changes a file.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tilth.base.errors import ToolError, UserError
from tilth.config.ruff import options_for
from tilth.sandbox.confinement import Access, Command, Confinement, Finished, run
from tilth.task.tool_outcome import HookRun

_TIMEOUT_S = 10.0
_KEEP_BYTES = 4096
_FOUND = 1
# The project may have set `fix = true`; a hook that edits behind the worker's back would be worse
# than none.
_ARGUMENTS = (
    "check",
    "--quiet",
    "--no-fix",
    "--no-cache",
    "--force-exclude",
    "--output-format=concise",
)
_BASE_BYTES = 64 * 1024
# The command line of ruff follows; the file's committed text is what it reads.
_ON_COMMITTED = (
    'path=$1; shift; git show "HEAD:$path" 2>/dev/null | "$@" --stdin-filename "$path" -'
)
_FINDING = re.compile(r"[^\n]*?:\d+:\d+: (.*)")
_NUMBER = re.compile(r"\d+")


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
        ruff = (str(self.ruff), *_ARGUMENTS, *options_for(self.root, path))
        try:
            finished = self._run((*ruff, "--", path), _KEEP_BYTES)
        except ToolError as error:
            return HookRun(hook="ruff", path=path, output=str(error), exit_code=None)
        output, exit_code = finished.output, finished.exit_code
        if finished.timed_out:
            output += f"[ruff was stopped after {self.timeout_s:g} s]"
        elif exit_code == _FOUND:
            output = _new_since(self._committed(ruff, path), output)
            exit_code = _FOUND if output else 0
        return HookRun(hook="ruff", path=path, output=output, exit_code=exit_code)

    def _committed(self, ruff: tuple[str, ...], path: str) -> str:
        """Give what ruff finds in the file as it was committed; nothing if that cannot be told."""
        try:
            return self._run(("sh", "-c", _ON_COMMITTED, "sh", path, *ruff), _BASE_BYTES).output
        except ToolError:
            return ""

    def _run(self, argv: tuple[str, ...], keep_bytes: int) -> Finished:
        command = Command(argv=argv, cwd=self.root, env=dict(self.env), timeout_s=self.timeout_s)
        return run(self.confinement.wrap(command, self.access), keep_bytes=keep_bytes)


def _new_since(before: str, found: str) -> str:
    """Leave out findings that were there before; one that only moved is not new."""
    known = Counter(_kind(line) for line in before.splitlines())
    fresh = []
    for line in found.splitlines(keepends=True):
        kind = _kind(line)
        if kind and known[kind] > 0:
            known[kind] -= 1
        else:
            fresh.append(line)
    return "".join(fresh)


def _kind(line: str) -> str:
    match = _FINDING.match(line)
    return _NUMBER.sub("#", match[1].rstrip()) if match else ""


@functools.cache
def find_ruff() -> Path | None:
    """Find the ruff binary that came with Tilth: starting it as a module costs far more."""
    try:
        return Path(importlib.import_module("ruff").find_ruff_bin())
    except (ImportError, FileNotFoundError):
        return None


def require_ruff() -> Path:
    """Give Tilth's own ruff; UserError if it is missing."""
    found = find_ruff()
    if found is None:
        raise UserError("ruff is missing from Tilth's own installation; install Tilth again")
    return found

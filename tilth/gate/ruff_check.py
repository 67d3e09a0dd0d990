"""`ruff check` on an export: what it finds, and what of that is new since the base.

Violations are counted by file, rule and message, so that one that only moved is not new. Numbers
in a message are left out of the comparison: a line that was too long may still be so.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

from tilth.errors import ToolError, UserError
from tilth.gate.bay import Bay
from tilth.gate.overlay import place
from tilth.sandbox import Finished
from tilth.values import Value

_CONFIGS = ("ruff.toml", ".ruff.toml")
_OPTIONS = ("--no-cache", "--no-fix", "--no-respect-gitignore", "--quiet", "--output-format=json")
_FOUND = (0, 1)
_NUMBER = re.compile(r"\d+")


class Violation(Value):
    """Hold one finding of ruff."""

    path: str
    row: int
    column: int
    code: str
    message: str

    @property
    def key(self) -> str:
        return f"{self.path}|{self.kind}"

    @property
    def kind(self) -> str:
        return f"{self.code}|{_NUMBER.sub('#', self.message)}"

    def line(self) -> str:
        return f"{self.path}:{self.row}:{self.column}: {self.code} {self.message}"


def run_ruff(bay: Bay, timeout_s: float) -> tuple[Finished, tuple[Violation, ...] | None]:
    """Check the whole export; no violations at all, not even none, when ruff could not work."""
    _shut_off_above(bay.export)
    found = bay.root / "ruff.json"
    argv = (str(bay.ground.ruff), "check", *_OPTIONS, f"--output-file={found}", ".")
    try:
        finished = bay.run(argv, timeout_s)
    except ToolError as error:
        raise UserError(f"{error}: install ruff beside Tilth") from error
    if finished.exit_code not in _FOUND or not found.is_file():
        return finished, None
    return finished, _violations(found.read_bytes(), bay.export)


def count(violations: Iterable[Violation]) -> dict[str, int]:
    """Count violations in the form a baseline keeps."""
    return dict(Counter(violation.key for violation in violations))


def paths_of(counted: Mapping[str, int]) -> set[str]:
    """Give the files that counted violations stand in."""
    return {key.partition("|")[0] for key in counted}


def new_since(
    base: Mapping[str, int], found: Iterable[Violation], gone: Collection[str]
) -> tuple[Violation, ...]:
    """Give the violations that the base did not have; those of a file that is gone may move."""
    left = Counter(base)
    adrift: Counter[str] = Counter()
    for key, number in base.items():
        path, _, kind = key.partition("|")
        if path in gone:
            adrift[kind] += number
    fresh = []
    for violation in found:
        if left[violation.key] > 0:
            left[violation.key] -= 1
        elif adrift[violation.kind] > 0:
            adrift[violation.kind] -= 1
        else:
            fresh.append(violation)
    return tuple(fresh)


def _shut_off_above(export: Path) -> None:
    """Keep ruff from looking for a configuration in the directories around the export."""
    if not any((export / name).exists() for name in _CONFIGS) and not _has_ruff_table(export):
        place(export, _CONFIGS[0], b"")


def _has_ruff_table(export: Path) -> bool:
    file = export / "pyproject.toml"
    if file.is_symlink() or not file.is_file():
        return False
    try:
        tool = tomllib.loads(file.read_text("utf-8")).get("tool")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        # ruff shall say itself what is wrong with it.
        return True
    return isinstance(tool, dict) and "ruff" in tool


class _Place(BaseModel):
    row: int
    column: int


class _Finding(BaseModel):
    code: str | None
    message: str
    filename: str
    location: _Place | None


def _violations(content: bytes, export: Path) -> tuple[Violation, ...]:
    try:
        findings = [_Finding.model_validate(item) for item in json.loads(content)]
    except (ValueError, ValidationError) as error:
        raise UserError(f"ruff's report cannot be read: {error}") from error
    return tuple(
        Violation(
            path=str(Path(finding.filename).relative_to(export)),
            row=finding.location.row if finding.location else 1,
            column=finding.location.column if finding.location else 1,
            code=finding.code or "invalid-syntax",
            message=finding.message,
        )
        for finding in findings
    )

"""Faults in a test that its run may not reach: names nobody defines, tests that hide each other.

A test whose module is still missing fails before its body runs, so ruff reads the body instead.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ValidationError

from tilth.base.errors import ToolError, UserError
from tilth.gate.export import Export

_UNDEFINED, _REDEFINED = "F821", "F811"
_ARGUMENTS = (
    "check",
    "--isolated",
    "--no-cache",
    "--no-fix",
    "--quiet",
    "--output-format=json",
    f"--select={_UNDEFINED},{_REDEFINED}",
)


class _Place(BaseModel):
    row: int


class _Finding(BaseModel):
    code: str | None
    message: str
    filename: str
    location: _Place | None


def find_slips(export: Export, paths: Sequence[str], timeout_s: float) -> dict[str, list[str]]:
    """Give the problems ruff sees in each test file."""
    report = export.root / "slips.json"
    argv = (str(export.runtime.ruff), *_ARGUMENTS, f"--output-file={report}", *paths)
    try:
        export.run(argv, timeout_s)
    except ToolError as error:
        raise UserError(f"{error}: install ruff beside Tilth") from error
    found: dict[str, list[str]] = {}
    for finding in _read(report):
        path = str(Path(finding.filename).relative_to(export.path))
        row = finding.location.row if finding.location else 1
        # A fixture that is imported and then taken as an argument is no second definition.
        if finding.code == _UNDEFINED or "`test_" in finding.message:
            found.setdefault(path, []).append(f"{path}:{row}: {finding.message}")
    return found


def _read(report: Path) -> list[_Finding]:
    try:
        content = json.loads(report.read_bytes())
        return [_Finding.model_validate(item) for item in content]
    except (OSError, ValueError, ValidationError) as error:
        raise UserError(f"ruff's report on the tests cannot be read: {error}") from error

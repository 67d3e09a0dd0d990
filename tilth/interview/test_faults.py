"""Faults in a test that its run may not reach: names nobody defines, tests that hide each other.

A test whose module is still missing fails before its body runs, so ruff reads the body instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilth.base.errors import ToolError, UserError
from tilth.gate.export import Export
from tilth.gate.ruff import violations

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


def find_slips(export: Export, paths: Sequence[str], timeout_s: float) -> dict[str, list[str]]:
    """Give the problems ruff sees in each test file."""
    report = export.root / "slips.json"
    argv = (str(export.runtime.ruff), *_ARGUMENTS, f"--output-file={report}", *paths)
    try:
        export.run(argv, timeout_s)
    except ToolError as error:
        raise UserError(f"{error}: install ruff beside Tilth") from error
    found: dict[str, list[str]] = {}
    for fault in violations(report.read_bytes() if report.exists() else b"", export.path):
        # A fixture that is imported and then taken as an argument is no second definition.
        if fault.code == _UNDEFINED or "`test_" in fault.message:
            found.setdefault(fault.path, []).append(f"{fault.path}:{fault.row}: {fault.message}")
    return found

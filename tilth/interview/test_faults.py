"""Faults in a test that its run may not reach: names nobody defines, tests that hide each other.

A test whose module is still missing fails before its body runs, so ruff reads the body instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilth.base.errors import UserError
from tilth.gate.export import Export
from tilth.gate.ruff import lint

_UNDEFINED, _REDEFINED = "F821", "F811"
_OPTIONS = ("--isolated", f"--select={_UNDEFINED},{_REDEFINED}")


def find_slips(export: Export, paths: Sequence[str], timeout_s: float) -> dict[str, list[str]]:
    """Give the problems ruff sees in each test file."""
    finished, faults = lint(export, timeout_s, *_OPTIONS, *paths)
    if faults is None:
        raise UserError(f"ruff could not read the tests: {finished.output.strip()[:300]}")
    found: dict[str, list[str]] = {}
    for fault in faults:
        # A fixture that is imported and then taken as an argument is no second definition.
        if fault.code == _UNDEFINED or "`test_" in fault.message:
            said = f"{fault.filename}:{fault.row}: {fault.message}"
            found.setdefault(fault.filename, []).append(said)
    return found

"""Named validators: commands of any language that a repository has named, each run on its own.

A command passes when it exits with 0 and, where it says that it writes a JUnit report, the report
holds at least one test that passed and none that failed.
"""

from __future__ import annotations

from tilth.base.errors import ToolError, Unreadable, UserError
from tilth.config.project import NamedValidator
from tilth.gate.export import Runtime, open_export
from tilth.gate.findings import ValidatorReport
from tilth.gate.junit import clear_reports, complaint, read_counts
from tilth.gate.overlay import Overlay
from tilth.gate.reports import report_of, too_slow


def run_named(
    runtime: Runtime, named: NamedValidator, tree: str, overlay: Overlay, timeout_s: float
) -> ValidatorReport:
    """Run one named validator on a tree."""
    timeout_s = named.timeout_s or timeout_s
    tests, fault = None, None
    # An export of its own: other validators have run the project's code in theirs.
    with open_export(runtime, tree, overlay) as export:
        if named.junit is not None:
            clear_reports(export.path, named.junit)
        try:
            finished = export.run(named.command, timeout_s)
        except ToolError as error:
            raise UserError(f"validator {named.name}: {error}") from error
        if named.junit is not None:
            try:
                tests = read_counts(export.path, named.junit)
                fault = complaint(tests)
            except Unreadable as error:
                fault = str(error)
    output = finished.output or "(it printed nothing)"
    if finished.timed_out:
        output = f"{too_slow(named.name, timeout_s)}\n{output}"
    passed = finished.exit_code == 0
    if passed and fault is not None:
        # A command that failed says itself what is wrong.
        passed, output = False, f"{named.name}: {fault}\n{output}"
    return report_of(named.name, passed, finished, output, tests)

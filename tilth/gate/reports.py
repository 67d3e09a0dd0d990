"""The wording that all validators' reports share. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from tilth.gate.findings import ValidatorReport
from tilth.sandbox.confinement import Finished

NO_PROCESS = Finished(exit_code=None, output="", timed_out=False, duration_ms=0)


def report_of(
    name: str,
    passed: bool,
    finished: Finished = NO_PROCESS,
    output: str = "",
    tests: Mapping[str, int] | None = None,
) -> ValidatorReport:
    """Make the report of a validator, of one that ran no process where none is given."""
    return ValidatorReport(
        name=name,
        passed=passed,
        exit_code=finished.exit_code,
        output=output.strip(),
        duration_ms=finished.duration_ms,
        tests=tests,
    )


def no_report(name: str, finished: Finished, timeout_s: float) -> str:
    """Say why there is no report of a test run to believe."""
    if finished.timed_out:
        return too_slow(name, timeout_s)
    return (
        f"the test process ended (exit code {finished.exit_code}) before pytest could report: "
        "the code under test must not end the process or take its place"
    )


def too_slow(name: str, timeout_s: float) -> str:
    """Say that a validator took too long."""
    return f"{name} did not finish within {timeout_s:g} seconds and was stopped"

"""Checks: what a command line and its output show about this task's acceptance tests. Pure.

It believes little. A run counts if each of their files was given to pytest whole, or stands in its
output as passed, and nothing that ran did otherwise: a run that is missed costs a reminder, one
that is believed wrongly would be a lie.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from fnmatch import fnmatch

_BEFORE = r"(?:\w+=\S*\s+|(?:env|time|uv run|poetry run|timeout \S+|(?:ba)?sh -c [\"']?)\s*)*"
_RUNNER = re.compile(
    _BEFORE + r"(?:\S*python[\d.]*\s+(?:-\w\s+)*-m\s+)?(?:\S*/)?"
    r"(?:pytest|py\.test|unittest|tox|nox)(?=\s|$)(.*)",
    re.DOTALL,
)
_PART = re.compile(r"[;&|\n]+")
# What pytest ends with: `3 passed, 1 warning in 0.02s`.
_SUMMARY = re.compile(r"^=* ?(\d+ [a-z][^\n]*?) in \d[\d.]*s", re.MULTILINE)
_ALL_PASSED = re.compile(r"[1-9]\d* passed(?:, \d+ warnings?)?")
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def runs_tests(command: str, validators: Sequence[Sequence[str]] = ()) -> bool:
    """Tell whether a command line runs tests, or one of the project's own validators."""
    parts = [part.strip() for part in _PART.split(command)]
    own = [shlex.join(validator) for validator in validators]
    return any(_RUNNER.match(part) or any(part.startswith(one) for one in own) for part in parts)


def shows_passing(command: str, output: str, files: Sequence[str]) -> bool:
    """Tell whether a command that succeeded ran all tests of these files, and all passed."""
    said = _SUMMARY.findall(output)
    if not files or not said or not all(_ALL_PASSED.fullmatch(one) for one in said):
        return False
    runs = [found[1] for part in _PART.split(command) if (found := _RUNNER.match(part.strip()))]
    given = [word.strip("\"'").removeprefix("./") for run in runs for word in run.split()]
    return bool(runs) and all(
        any(fnmatch(file, word) for word in given)
        or re.search(rf"^{re.escape(file)}(?: \.+\s|::\S+ PASSED)", output, re.MULTILINE)
        for file in files
    )


def failure_in(command: str, exit_code: int, output: str) -> str | None:
    """Name what failed: the tests that pytest names, else the command itself."""
    if not exit_code and not runs_tests(command):
        return None
    if named := sorted(set(_FAILURE.findall(output))):
        return " ".join(named)
    return " ".join(command.split()) if exit_code else None

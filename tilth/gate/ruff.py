"""`ruff check` on an export: what it finds, and what of that is new since the base.

Violations are counted by file, rule and message, so that one that only moved is not new. Numbers
in a message are left out of the comparison: a line that was too long may still be so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError

from tilth.base.errors import ToolError, UserError
from tilth.base.values import Value
from tilth.config.ruff import PLAIN_CONFIG, PLAIN_FILE, looking_everywhere, own_table
from tilth.gate.challenged import more
from tilth.gate.export import Export
from tilth.gate.findings import ValidatorReport
from tilth.gate.overlay import place
from tilth.gate.reports import report_of, too_slow
from tilth.sandbox.confinement import Finished

RUFF = "ruff"
_OPTIONS = ("--no-cache", "--no-fix", "--quiet", "--output-format=json")
_MOST_LINES = 200
_FOUND = (0, 1)
_NUMBER = re.compile(r"\d+")


class Violation(Value):
    """Hold one finding of ruff, as its own report writes it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    filename: str
    code: str | None
    message: str
    location: Mapping[str, int] | None

    @property
    def rule(self) -> str:
        return self.code or "invalid-syntax"

    @property
    def kind(self) -> str:
        return f"{self.rule}|{_NUMBER.sub('#', self.message)}"

    @property
    def key(self) -> str:
        return f"{self.filename}|{self.kind}"

    @property
    def row(self) -> int:
        return (self.location or {}).get("row", 1)

    def line(self) -> str:
        column = (self.location or {}).get("column", 1)
        return f"{self.filename}:{self.row}:{column}: {self.rule} {self.message}"


Found = tuple[Finished, tuple[Violation, ...] | None]
_FINDINGS = TypeAdapter(tuple[Violation, ...])


def lint(export: Export, timeout_s: float, *options: str) -> Found:
    """Run ruff in an export; no violations at all, not even none, when it could not work."""
    report = export.root / "ruff.json"
    argv = (str(export.runtime.ruff), "check", *_OPTIONS, f"--output-file={report}", *options)
    try:
        finished = export.run(argv, timeout_s)
    except ToolError as error:
        raise UserError(f"{error}: install ruff beside Tilth") from error
    if finished.exit_code not in _FOUND or not report.is_file():
        return finished, None
    return finished, violations(report.read_bytes(), export.path)


def lint_tree(export: Export, timeout_s: float, is_left_out: Callable[[str], bool]) -> Found:
    """Check the whole export by the project's rules, but for some of its files."""
    if own_table(export.path) is None:
        place(export.path, PLAIN_FILE, PLAIN_CONFIG)
    options = ("--no-respect-gitignore", *looking_everywhere(export.path), ".")
    finished, found = lint(export, timeout_s, *options)
    kept = tuple(each for each in found or () if not is_left_out(each.filename))
    return finished, None if found is None else kept


def count_of_base(finished: Finished, found: tuple[Violation, ...] | None) -> dict[str, int]:
    """Count what ruff finds on the base; UserError if it cannot check it."""
    if found is None:
        said = " ".join(finished.output.split())[:300] or f"exit code {finished.exit_code}"
        raise UserError(
            f"ruff cannot check the base ({said}): mend the repository's ruff configuration, or "
            "replace the validator under [tool.tilth.validators]"
        )
    return dict(Counter(violation.key for violation in found))


def ruff_report(
    linted: Found, base: Mapping[str, int], stands: Container[str], timeout_s: float
) -> ValidatorReport:
    """Fail on what is new since the base; `stands` are the files that are still there."""
    finished, found = linted
    if found is None:
        said = too_slow(RUFF, timeout_s) if finished.timed_out else "ruff could not check the tree"
        return report_of(RUFF, False, finished, f"{said}\n{finished.output}")
    lines = [violation.line() for violation in new_since(base, found, stands)]
    output = "\n".join([*lines[:_MOST_LINES], *more(lines, _MOST_LINES)]) or "no new violation"
    return report_of(RUFF, not lines, finished, output)


def new_since(
    base: Mapping[str, int], found: Iterable[Violation], stands: Container[str]
) -> tuple[Violation, ...]:
    """Give the violations that the base did not have; those of a file that is gone may move."""
    left: Counter[str] = Counter()
    for key, number in base.items():
        path, _, kind = key.partition("|")
        left[key if path in stands else kind] += number
    fresh = []
    for violation in found:
        known = next((key for key in (violation.key, violation.kind) if left[key]), None)
        if known is None:
            fresh.append(violation)
        else:
            left[known] -= 1
    return tuple(fresh)


def violations(content: bytes, export: Path) -> tuple[Violation, ...]:
    """Read ruff's own report on files below `export`."""
    try:
        found = _FINDINGS.validate_json(content)
    except ValidationError as error:
        said = error.errors(include_url=False)[0]["msg"]
        raise UserError(f"ruff's report cannot be read: {said}") from error
    names = [str(Path(violation.filename).relative_to(export)) for violation in found]
    pairs = zip(found, names, strict=True)
    return tuple(each.model_copy(update={"filename": name}) for each, name in pairs)

"""`ruff check` on an export: what it finds, and what of that is new since the base.

Violations are counted by file, rule and message, so that one that only moved is not new. Numbers
in a message are left out of the comparison: a line that was too long may still be so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from tilth.base.errors import BadText, ToolError, UserError
from tilth.base.foreign_text import LARGEST_CONFIG, read_toml
from tilth.base.plain_file import read_plain
from tilth.base.values import Value
from tilth.gate.challenged import more
from tilth.gate.export import Export
from tilth.gate.findings import ValidatorReport
from tilth.gate.overlay import place
from tilth.gate.reports import report_of, too_slow
from tilth.sandbox.confinement import Finished

RUFF = "ruff"
_CONFIGS = ("ruff.toml", ".ruff.toml")
_OPTIONS = ("--no-cache", "--no-fix", "--no-respect-gitignore", "--quiet", "--output-format=json")
# Syntax errors, comparisons and formats that cannot be meant, undefined names.
PLAINLY_BROKEN = ("E9", "F63", "F7", "F82")
# No syntax is broken only because the project did not say which Python it is for.
_NEWEST = "py314"
_PLAIN_CONFIG = f"""\
target-version = "{_NEWEST}"
lint.select = {list(PLAINLY_BROKEN)}
""".encode()
_MOST_LINES = 200
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


def base_violations(
    export: Export, timeout_s: float, is_left_out: Callable[[str], bool]
) -> dict[str, int]:
    """Count what ruff finds on the base; UserError if it cannot check it."""
    finished, found = _run(export, timeout_s, is_left_out)
    if found is None:
        said = " ".join(finished.output.split())[:300] or f"exit code {finished.exit_code}"
        raise UserError(
            f"ruff cannot check the base ({said}): mend the repository's ruff configuration, or "
            "replace the validator under [tool.tilth.validators]"
        )
    return dict(Counter(violation.key for violation in found))


def ruff_report(
    export: Export,
    timeout_s: float,
    is_left_out: Callable[[str], bool],
    base: Mapping[str, int],
) -> ValidatorReport:
    """Check the whole export, and fail on what is new since the base."""
    finished, found = _run(export, timeout_s, is_left_out)
    if found is None:
        said = too_slow(RUFF, timeout_s) if finished.timed_out else "ruff could not check the tree"
        return report_of(RUFF, False, finished, f"{said}\n{finished.output}")
    stands = {path for path in map(_path_of, base) if (export.path / path).exists()}
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


def _run(
    export: Export, timeout_s: float, is_left_out: Callable[[str], bool]
) -> tuple[Finished, tuple[Violation, ...] | None]:
    """Check the whole export; no violations at all, not even none, when ruff could not work."""
    report = export.root / "ruff.json"
    if _own_table(export.path) is None:
        place(export.path, _CONFIGS[0], _PLAIN_CONFIG)
    options = (*_OPTIONS, *_looking_everywhere(export.path), f"--output-file={report}")
    try:
        finished = export.run((str(export.runtime.ruff), "check", *options, "."), timeout_s)
    except ToolError as error:
        raise UserError(f"{error}: install ruff beside Tilth") from error
    if finished.exit_code not in _FOUND or not report.is_file():
        return finished, None
    found = violations(report.read_bytes(), export.path)
    return finished, tuple(item for item in found if not is_left_out(item.path))


def _path_of(key: str) -> str:
    return key.partition("|")[0]


def options_for(root: Path, path: str) -> list[str]:
    """Give the options that make ruff judge one file as the gate will.

    A project without a ruff configuration is held to what is plainly broken.
    """
    directories = [root / parent for parent in PurePosixPath(path).parents]
    if all(_own_table(directory) is None for directory in directories):
        plain = ["--isolated", f"--select={','.join(PLAINLY_BROKEN)}"]
        return [*plain, f"--target-version={_NEWEST}", "--config=exclude=[]"]
    return _looking_everywhere(root)


def _looking_everywhere(root: Path) -> list[str]:
    """Have ruff look at `dist`, `site-packages` and the like too, which it passes over unasked."""
    table = _own_table(root)
    return [] if table is not None and "exclude" in table else ["--config=exclude=[]"]


def _own_table(root: Path) -> dict[str, Any] | None:
    """Read the project's ruff configuration; None when it has none."""
    for name in _CONFIGS:
        if (root / name).exists():
            return _toml(root / name)
    file = root / "pyproject.toml"
    if file.is_symlink() or not file.is_file():
        return None
    tool = _toml(file).get("tool")
    table = tool.get("ruff") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _toml(file: Path) -> dict[str, Any]:
    try:
        return read_toml(read_plain(file, LARGEST_CONFIG))
    except (OSError, BadText):
        # ruff shall say itself what is wrong with it.
        return {"tool": {"ruff": {}}}


class _Finding(BaseModel):
    code: str | None
    message: str
    filename: str
    location: dict[str, int] | None


_FINDINGS = TypeAdapter(list[_Finding])


def violations(content: bytes, export: Path) -> tuple[Violation, ...]:
    """Read ruff's own report on files below `export`."""
    try:
        findings = _FINDINGS.validate_json(content)
    except ValidationError as error:
        said = error.errors(include_url=False)[0]["msg"]
        raise UserError(f"ruff's report cannot be read: {said}") from error
    return tuple(
        Violation(
            path=str(Path(finding.filename).relative_to(export)),
            row=(finding.location or {}).get("row", 1),
            column=(finding.location or {}).get("column", 1),
            code=finding.code or "invalid-syntax",
            message=finding.message,
        )
        for finding in findings
    )

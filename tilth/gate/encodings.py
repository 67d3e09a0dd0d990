"""Encodings: what a changed file says of its own, where Python goes by it. Pure.

Python reads the first two lines alone, so a line can take effect because others above it are gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tilth.gate.diff_lines import hunk_lines

PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")
_LAST = 2
_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# A first line of any other kind keeps Python from looking at the second.
_NO_CODE = re.compile(r"^\ufeff?[ \t\f]*(?:[#\r]|$)")
_STARTS_PYTHON = re.compile(r"^#!.*\bpy(?:thon|py)")
_PLAIN = frozenset({"utf-8", "utf8", "utf-8-sig"})


@dataclass
class _Head:
    """Hold what a diff shows of the first lines of a file, before and after."""

    before: dict[int, str] = field(default_factory=dict)
    after: dict[int, str] = field(default_factory=dict)
    added: set[int] = field(default_factory=set)


def coding_notes(diff: str) -> list[str]:
    """Name the encodings, but for UTF-8, that a change brings into force."""
    heads: dict[str, _Head] = {}
    for line in hunk_lines(diff):
        if line.before > _LAST and line.after > _LAST:
            continue
        head = heads.setdefault(line.path, _Head())
        if line.mark != "+" and line.before <= _LAST:
            head.before[line.before] = line.text
        if line.mark != "-" and line.after <= _LAST:
            head.after[line.after] = line.text
        if line.mark == "+":
            head.added.add(line.after)
    return [note for path, head in heads.items() if (note := _note(path, head))]


def _note(path: str, head: _Head) -> str | None:
    number, coding = _in_force(path, head.after)
    if coding is None or coding.lower().replace("_", "-") in _PLAIN:
        return None
    if number not in head.added and coding == _in_force(path, head.before)[1]:
        return None
    return (
        f"{path}:{number}: declares the encoding {coding[:40]}: what Python runs may "
        "not be what the diff shows"
    )


def _in_force(path: str, lines: dict[int, str]) -> tuple[int, str | None]:
    """Give the encoding that Python goes by, with its line; a line that is not shown may be any."""
    first = lines.get(1)
    if not path.endswith(PYTHON_SUFFIXES) and not _STARTS_PYTHON.match(first or ""):
        return 0, None
    for number, text in sorted(lines.items()):
        if match := _COOKIE.match(text):
            return number, match[1]
        if not _NO_CODE.match(text):
            break
    return 0, None

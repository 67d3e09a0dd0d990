"""What a diff does not show, or shows otherwise than it is: binaries, attributes, context files.

Notes for worker and evaluator; nothing is refused here. Pure but for the reading that is handed in.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from tilth.base.hidden_characters import escaped_line, hidden_in
from tilth.gate.diff_lines import added_lines
from tilth.gate.tampering import shortened
from tilth.git.changes import Change, is_cut

CONTEXT_FILES = ("AGENTS.md", "CLAUDE.md")
_ZIP, _ELF = b"PK\x03\x04", b"\x7fELF"
_CODE = (".py", ".pyc", ".so", ".pyd")
_MOST_NAMES = 5
_TOO_LONG = "the diff is longer than what is read of it: lines beyond were not looked at for notes"


def unseen_notes(
    changes: Iterable[Change],
    read: Callable[[str], bytes | None],
    context_files: Iterable[str] = CONTEXT_FILES,
    diff: str = "",
) -> tuple[str, ...]:
    """Name the changed files whose effect the diff does not tell."""
    changes = tuple(changes)
    held = [change for change in changes if change.status != "D"]
    told = set(context_files)
    context = [
        f"{change.path}: it is told to workers and evaluators as the project's conventions; this "
        "session's later tasks see it as it was at the start"
        for change in held
        if change.path in told
    ]
    attributes = [
        f"{change.path}: it changes how git shows and stores files"
        for change in held
        if PurePosixPath(change.path).name == ".gitattributes"
    ]
    binaries = [note for change in held if (note := _binary_note(change.path, read(change.path)))]
    names = [note for change in changes if (note := _name_note(change.path))]
    return (
        *((_TOO_LONG,) if is_cut(diff) else ()),
        *shortened(names),
        *shortened(binaries),
        *shortened(attributes),
        *shortened(context),
        *shortened(_blanks(diff)),
    )


def _name_note(path: str) -> str | None:
    shown = escaped_line(path)
    if shown == path:
        return None
    marks = ", ".join(dict.fromkeys(each.name for each in hidden_in(path)))
    return f"{shown}: its name holds characters that are not seen{f' ({marks})' if marks else ''}"


def _blanks(diff: str) -> list[str]:
    """Name once a file what honest text may hold and nobody sees: blanks, joiners, form feeds."""
    found: dict[str, _Blanks] = {}
    for line in added_lines(diff):
        hidden = hidden_in(line.text, is_first=line.number == 1)
        names = [each.name for each in hidden if not each.is_grave]
        if names:
            found.setdefault(line.path, _Blanks(line.number)).add(names)
    return [blanks.note(path) for path, blanks in found.items()]


@dataclass
class _Blanks:
    """Count the lines of one file that hold such characters."""

    first: int
    lines: int = 0
    names: dict[str, None] = field(default_factory=dict)

    def add(self, names: Iterable[str]) -> None:
        self.lines += 1
        self.names.update(dict.fromkeys(names))

    def note(self, path: str) -> str:
        names = ", ".join(list(self.names)[:_MOST_NAMES])
        alone = f"line {self.first}"
        where = alone if self.lines == 1 else f"{self.lines} lines, the first is {self.first}"
        return f"{path}: blanks and joiners that are not seen as such ({names}) in {where}"


def _binary_note(path: str, content: bytes | None) -> str | None:
    if content is None or b"\0" not in content[:8192]:
        return None
    kind = "a binary file"
    if content.startswith(_ELF) or path.endswith((".so", ".pyd", ".dll")):
        kind = "compiled code"
    elif content.startswith(_ZIP):
        inside = _code_inside(content)
        kind = f"an archive that holds code ({', '.join(inside)})" if inside else "an archive"
    elif path.endswith((".pyc", ".pyo")):
        kind = "compiled code"
    return f"{path}: {kind}, {len(content)} bytes that the diff does not show"


def _code_inside(content: bytes) -> list[str]:
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return []
    return [name[:80] for name in names if name.endswith(_CODE)][:_MOST_NAMES]

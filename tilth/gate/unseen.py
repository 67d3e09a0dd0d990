"""What a diff does not show, or shows otherwise than it is: binaries, attributes, context files.

Notes for worker and evaluator; nothing is refused here. Pure but for the reading that is handed in.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from tilth.gate.tampering import shortened
from tilth.git.changes import Change

CONTEXT_FILES = ("AGENTS.md", "CLAUDE.md")
_ZIP, _ELF = b"PK\x03\x04", b"\x7fELF"
_CODE = (".py", ".pyc", ".so", ".pyd")
_MOST_NAMES = 5


def unseen_notes(
    changes: Iterable[Change],
    read: Callable[[str], bytes | None],
    context_files: Iterable[str] = CONTEXT_FILES,
) -> tuple[str, ...]:
    """Name the changed files whose effect the diff does not tell."""
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
    return (*shortened(binaries), *shortened(attributes), *shortened(context))


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

"""Files of sessions and of Tilth's home are read as plain files: a pipe there hangs no command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

TILTH = Path(__file__).parents[2] / "tilth"
ROOMS = ("config", "fleet", "log", "replay", "session", "show")
READERS = ("read_bytes", "read_text", "open")
# What is read there stands in no session and no home, or is a path that the user has just named.
LEFT = {
    "config/reference.py": "this repository's own pages",
    "fleet/units.py": "the file of units that the user names, which may be a pipe of a shell",
    "session/store.py": "a file of the kernel, and descriptors that are open already",
    "show/viewer/page_files.py": "the page's own files",
    "show/viewer/visualize.py": "a web browser",
}


def direct_reads(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        of = node.func.value
        by_hand = isinstance(of, ast.Name) and of.id == "os"
        if node.func.attr in READERS and not by_hand:
            yield f"{path.relative_to(TILTH).as_posix()}:{node.lineno} {node.func.attr}"


def test_no_file_of_a_session_or_a_home_is_read_directly() -> None:
    found = [
        read
        for room in ROOMS
        for path in sorted((TILTH / room).rglob("*.py"))
        if path.relative_to(TILTH).as_posix() not in LEFT
        for read in direct_reads(path)
    ]
    assert found == []

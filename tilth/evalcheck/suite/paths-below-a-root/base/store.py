"""Files that users keep below one directory."""

from __future__ import annotations

from pathlib import Path


class Store:
    """Read and write files by the names users give."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, name: str) -> str:
        """Give a file's text."""
        return (self._root / name).read_text("utf-8")

    def write(self, name: str, text: str) -> None:
        """Keep a text; directories in the name are made."""
        path = self._root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

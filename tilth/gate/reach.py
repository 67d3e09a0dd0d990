"""Reach: how many imports lead from a file of Python to another, told from their texts. Pure.

A file is taken for one that an import names if the last name of its module is among the names of
the import: too many files rather than too few. What is imported as the code runs is not seen.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from pathlib import PurePosixPath

from tilth.base.quiet import parse_quietly

_MOST_BYTES = 1_000_000


class Reach:
    """Know the imports among files; each file is read at most once."""

    def __init__(self, files: Iterable[str], read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._imports: dict[str, frozenset[str]] = {}
        self._by_name: dict[str, list[PurePosixPath]] = {}
        for path in (PurePosixPath(file) for file in files if file.endswith(".py")):
            name = path.parent.name if path.name == "__init__.py" else path.stem
            self._by_name.setdefault(name, []).append(path)

    def distance(self, start: str, targets: Collection[str]) -> int | None:
        """Say how many imports lead from a file to the nearest target; None if none does."""
        seen, edge, steps = {start}, {start}, 0
        while edge and seen.isdisjoint(targets):
            steps += 1
            edge = {each for path in edge for each in self._imported(path)} - seen
            seen |= edge
        return None if seen.isdisjoint(targets) else steps

    def _imported(self, path: str) -> frozenset[str]:
        if path not in self._imports:
            named = [one for name in self._names(path) for one in self._by_name.get(name, ())]
            # What stands beside tests is run before them.
            above = PurePosixPath(path).parents
            named += [one for one in self._by_name.get("conftest", ()) if one.parent in above]
            self._imports[path] = frozenset(map(str, named)) - {path}
        return self._imports[path]

    def _names(self, path: str) -> set[str]:
        """Give every name in the imports of a file, and of the packages it stands in."""
        content = self._read(path) or b""
        try:
            nodes = list(ast.walk(parse_quietly(content[:_MOST_BYTES])))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return set()
        imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        named = [alias.name for node in imports for alias in node.names]
        named += [node.module or "" for node in imports if isinstance(node, ast.ImportFrom)]
        packages = PurePosixPath(path).parent.parts
        return {part for name in named for part in name.split(".")}.union(packages)

"""Reach: which files a file of Python imports, directly or through others, by their texts. Pure.

Told from import statements; what is imported as the code runs is not seen.
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
        # A module may be found from the root, from `src` or from a directory of tests.
        self._by_name: dict[str, list[str]] = {}
        for path in files:
            if path.endswith(".py"):
                self._by_name.setdefault(_last_name(path), []).append(path)

    def distance(self, start: str, targets: Collection[str]) -> int | None:
        """Say how many imports lead from a file to the nearest target; None if none does."""
        seen, edge, steps = {start}, [start], 0
        while edge:
            if not seen.isdisjoint(targets):
                return steps
            steps += 1
            edge = [each for path in edge for each in self._imported(path) if each not in seen]
            seen.update(edge)
        return steps if not seen.isdisjoint(targets) else None

    def _imported(self, path: str) -> frozenset[str]:
        if path not in self._imports:
            names = _names(path, self._read(path) or b"")
            found = {one for name in names for one in self._files(name)}
            self._imports[path] = frozenset(found | self._packages(path))
        return self._imports[path]

    def _packages(self, path: str) -> set[str]:
        """Give what is run before a module: its packages, and conftest files beside tests."""
        folders = [str(parent) for parent in PurePosixPath(path).parents]
        beside = [*self._by_name.get("conftest", ()), *self._inits(folders)]
        return {each for each in beside if str(PurePosixPath(each).parent) in folders} - {path}

    def _inits(self, folders: list[str]) -> list[str]:
        names = {PurePosixPath(folder).name for folder in folders}
        return [
            path
            for name in names
            for path in self._by_name.get(name, ())
            if path.endswith("__init__.py")
        ]

    def _files(self, name: str) -> list[str]:
        ends = (f"/{name.replace('.', '/')}.py", f"/{name.replace('.', '/')}/__init__.py")
        last = name.rpartition(".")[2]
        return [path for path in self._by_name.get(last, ()) if f"/{path}".endswith(ends)]


def _last_name(path: str) -> str:
    pure = PurePosixPath(path)
    return pure.parent.name if pure.name == "__init__.py" else pure.stem


def _names(path: str, content: bytes) -> set[str]:
    """Give the dotted names of what a file imports, relative ones made whole."""
    if len(content) > _MOST_BYTES:
        return set()
    try:
        tree = parse_quietly(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = PurePosixPath(path).parts[: -node.level] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            found.update({module, *(f"{module}.{alias.name}" for alias in node.names)} - {""})
    return {part for name in found for part in _with_packages(name)}


def _with_packages(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]

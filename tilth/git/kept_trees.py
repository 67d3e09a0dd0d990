"""Trees that are exported once: whoever runs something on one gets a copy of his own.

Keeps the tree that is being judged as files nobody runs anything in, so that the gate, the probes
and the mutants need git no more. It never changes a tree and never runs a command.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from tilth.base.plain_file import read_plain
from tilth.git.changes import Change
from tilth.git.command import unshown
from tilth.sandbox.removal import remove_tree


class TreeSource(Protocol):
    """Read and export trees of the repository."""

    def export(self, tree: str, into: Path) -> None: ...

    def read(self, rev: str, path: str) -> bytes | None: ...

    def files(self, rev: str) -> tuple[str, ...]: ...

    def links(self, rev: str, *below: str) -> dict[str, str]: ...

    def attributes(self, tree: str, paths: Iterable[str]) -> Mapping[str, Mapping[str, str]]: ...

    def changes(self, base: str, tree: str) -> tuple[Change, ...]: ...

    def diff(self, base: str, tree: str) -> str: ...

    def tree_of(self, rev: str) -> str: ...


class KeptTrees:
    """Export trees, and keep the files of one of them at hand."""

    def __init__(self, trees: TreeSource, scratch: Path) -> None:
        self._trees = trees
        self._scratch = scratch
        self._kept: str | None = None

    def keep(self, tree: str) -> Path:
        """Export a tree unless it is the one that is kept; give where its files stand."""
        place = self._scratch / "judged"
        if self._kept != tree or not place.is_dir():
            self._kept = None
            if place.is_dir():
                remove_tree(place)
            self._scratch.mkdir(parents=True, exist_ok=True)
            place.mkdir()
            self._trees.export(tree, place)
            self._kept = tree
        return place

    def read(self, tree: str, path: str) -> bytes | None:
        """Read a file of a tree; None where no file stands, or a link."""
        root = self.keep(tree)
        # A name that is not UTF-8 is known to us by its escaped form.
        for file in (root / path, root / os.fsdecode(unshown(path))):
            if file.is_file() and not file.is_symlink():
                return read_plain(file)
        return None

    def export(self, tree: str, into: Path) -> None:
        """Write every file of a tree below `into`."""
        kept = self._kept
        # A commit of the tree that is kept is as good as the tree.
        if kept and (tree == kept or self._trees.tree_of(tree) == kept):
            copy_tree(self._scratch / "judged", into)
        else:
            self._trees.export(tree, into)


def copy_tree(source: Path, into: Path) -> None:
    """Copy files, links and modes below a directory; never a hard link, which could be written."""
    shutil.copytree(source, into, symlinks=True, copy_function=shutil.copy, dirs_exist_ok=True)

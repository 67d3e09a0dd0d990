"""Trees that are exported once: whoever runs something on one gets a copy of his own.

Keeps the tree that is being judged as files nobody runs anything in, so that the gate, the probes
and the mutants need git no more. It never changes a tree and never runs a command.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tilth.base.plain_file import read_plain
from tilth.gate.export import TreeSource
from tilth.git.command import unshown
from tilth.sandbox.removal import remove_tree


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
        if self._is_kept(tree):
            copy_tree(self._scratch / "judged", into)
        else:
            self._trees.export(tree, into)

    def _is_kept(self, tree: str) -> bool:
        """Tell whether a tree is the one that is kept, or a commit of it."""
        if self._kept is None or tree == self._kept:
            return tree == self._kept
        return self._trees.tree_of(tree) == self._kept


def copy_tree(source: Path, into: Path) -> None:
    """Copy files, links and modes below a directory; never a hard link, which could be written."""
    shutil.copytree(
        source,
        into,
        symlinks=True,
        copy_function=shutil.copy,
        dirs_exist_ok=True,
    )

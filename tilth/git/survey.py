"""A survey of a worktree: which files belong in a tree that is frozen from it.

It walks the directory itself and asks git only what the base's own `.gitignore` files say, so the
worker's index, excludes and ignore files play no part. What the base tracks is always looked at.
Whole ignored directories, caches and virtual environments are never entered. It writes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tilth.base.errors import WorkspaceError
from tilth.base.generated import (
    BYTECODE,
    CACHES,
    COMPILED_SUFFIXES,
    VIRTUALENV_MARK,
    encoded,
)
from tilth.contract.left_out import LeftOut
from tilth.git.command import shown, visible

LARGEST_NEW_FILE = 100 * 1024 * 1024
# No honest change nests deeper; the length is what the system takes, less one more name.
DEEPEST, LONGEST_PATH = 100, 3500

_CACHES = encoded(*CACHES)
_BYTECODE = BYTECODE.encode()
_VIRTUALENV = VIRTUALENV_MARK.encode()
_BARE_REPOSITORY = frozenset((b"HEAD", b"objects", b"refs"))
# Every spelling that git reads as `.git` on some file system and refuses to track.
_DOT_GIT = re.compile(rb"(\.git|git~1)[ .]*([:\\].*)?", re.IGNORECASE | re.DOTALL)


# Tells which of these untracked paths, and of these directories, the base ignores.
Ignores = Callable[[Sequence[bytes], Iterable[bytes]], set[bytes]]


@dataclass(frozen=True)
class Base:
    """Know the paths a commit tracks."""

    files: frozenset[bytes]
    links: frozenset[bytes]  # submodules
    directories: frozenset[bytes]

    @classmethod
    def of(cls, modes: Mapping[bytes, bytes]) -> Base:
        links = frozenset(path for path, mode in modes.items() if mode == b"160000")
        directories = {parent for path in modes for parent in _parents(path)}
        return cls(frozenset(modes) - links, links, frozenset(directories))


@dataclass
class Survey:
    """Collect what a walk found; all paths are relative to the worktree, as bytes."""

    present: list[bytes] = field(default_factory=list)
    # Of those, the ones that the base does not track, and whether one is a link.
    added: list[bytes] = field(default_factory=list)
    has_links: bool = False
    nested: list[bytes] = field(default_factory=list)
    skipped: dict[bytes, LeftOut] = field(default_factory=dict)
    # What stands in the worktree, enters no tree and is not ignored either.
    litter: list[bytes] = field(default_factory=list)

    def removed(self, base: Base) -> list[bytes]:
        """Give what the base tracks and the worktree has lost; what cannot be seen is kept."""
        present = set(self.present)
        unseen = self._unseen()
        return sorted(
            path
            for path in base.files - present
            if path not in unseen and unseen.isdisjoint(_parents(path))
        )

    def leans_on(self, base: Base) -> bool:
        """Tell whether something stays as the base has it: without that, files alone tell a tree.

        Submodules and what cannot be seen do, and so does a file that git tracks, but not as the
        link it has become.
        """
        return bool(base.links) or self.has_links or bool(self._unseen())

    def _unseen(self) -> set[bytes]:
        return {path for path, why in self.skipped.items() if why is LeftOut.UNREADABLE}


def survey(root: bytes, base: Base, ignores: Ignores) -> Survey:
    """Walk the worktree level by level, so that git is asked once a level at most."""
    walk = _Walk(root, base)
    level: list[bytes] = [b""]
    while level:
        for directory in level:
            walk.look_into(directory)
        level = walk.descend(ignores)
    return walk.found


class _Walk:
    def __init__(self, root: bytes, base: Base) -> None:
        self.found = Survey()
        self._root = root
        self._base = base
        self._deeper: list[bytes] = []
        self._candidates: dict[bytes, os.DirEntry[bytes]] = {}

    def look_into(self, directory: bytes) -> None:
        try:
            with os.scandir(os.path.join(self._root, directory)) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            if not directory:
                place = visible(shown(self._root))
                why = f"the worktree cannot be read: {place}: {error.strerror}"
                raise WorkspaceError(why) from error
            if isinstance(error, FileNotFoundError):
                return
            self._skip(directory, LeftOut.UNREADABLE)
            return
        if directory and directory not in self._base.directories:
            names = {entry.name for entry in entries}
            if _VIRTUALENV in names:
                return
            if names >= _BARE_REPOSITORY or any(_DOT_GIT.fullmatch(name) for name in names):
                self.found.nested.append(directory)
                self.found.litter.append(directory)
                return
        for entry in entries:
            self._sort(directory, entry)

    def _sort(self, directory: bytes, entry: os.DirEntry[bytes]) -> None:
        path = os.path.join(directory, entry.name)
        is_directory = entry.is_dir(follow_symlinks=False)
        if _DOT_GIT.fullmatch(entry.name):
            if path != b".git":
                self.found.nested.append(directory or path)
                self.found.litter.append(path)
        elif is_directory and path in self._base.links:
            return
        elif is_directory and path in self._base.directories:
            self._deeper.append(path)
        elif not is_directory and path in self._base.files:
            self._take(path, entry)
        elif entry.name == _BYTECODE or entry.name.endswith(COMPILED_SUFFIXES):
            # A directory that holds nothing else would outlive its package as an empty one.
            if directory and directory not in self._base.directories:
                self.found.litter.append(path)
        elif is_directory and (path.count(b"/") >= DEEPEST or len(entry.path) > LONGEST_PATH):
            self._skip(path, LeftOut.TOO_DEEP)
        elif entry.name not in _CACHES:
            self._candidates[path] = entry

    def descend(self, ignores: Ignores) -> list[bytes]:
        """Settle the untracked entries of this level and give the directories of the next."""
        candidates, deeper = self._candidates, self._deeper
        self._candidates, self._deeper = {}, []
        if not candidates:
            return deeper
        folders = [path for path, e in candidates.items() if e.is_dir(follow_symlinks=False)]
        ignored = ignores(tuple(candidates), folders)
        deeper += (path for path in folders if path not in ignored)
        for path in candidates.keys() - ignored - set(folders):
            self._take(path, candidates[path])
        return deeper

    def _take(self, path: bytes, entry: os.DirEntry[bytes]) -> None:
        if entry.is_symlink():
            self.found.has_links = True
            self._keep(path)
        elif not entry.is_file(follow_symlinks=False):
            self._skip(path, LeftOut.SPECIAL)
        elif not os.access(entry.path, os.R_OK):
            self._skip(path, LeftOut.UNREADABLE)
        elif path not in self._base.files and _size(entry) > LARGEST_NEW_FILE:
            self._skip(path, LeftOut.TOO_LARGE)
        else:
            self._keep(path)

    def _keep(self, path: bytes) -> None:
        self.found.present.append(path)
        if path not in self._base.files:
            self.found.added.append(path)

    def _skip(self, path: bytes, why: LeftOut) -> None:
        self.found.skipped[path] = why
        self.found.litter.append(path)


def _size(entry: os.DirEntry[bytes]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _parents(path: bytes) -> Iterable[bytes]:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path

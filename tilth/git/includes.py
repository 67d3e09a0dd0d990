"""What git opens of a repository: refused where git would wait for it.

git opens what stands at the places of its directory, of the object stores it borrows from, and
whatever an `[include]` names; at a named pipe or a device it waits until somebody writes. All is
looked at from outside, by kind and name; of the files only those are read that lead to others.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Container, Iterator
from pathlib import Path

from tilth.base.errors import UserError
from tilth.base.plain_file import read_plain

# All else in a git directory is other programs', or is never opened for a session.
_READ_BY_GIT = frozenset(
    ("info", "logs", "objects", "refs", "reftable", "rebase-merge", "worktrees")
)
_LARGEST = 1 << 20
_DEEPEST = 10
_SECTION = re.compile(r"^\s*\[\s*include(?:if)?\b[^\]]*\]\s*(.*)$", re.IGNORECASE)
_PATH = re.compile(r"^\s*path\s*=\s*(.+?)\s*$", re.IGNORECASE)


def refuse_what_waits(root: Path) -> None:
    """Raise UserError if git would wait for what stands in or beside the repository at `root`."""
    own, git_dir = git_dirs(root)
    _walk(own, _READ_BY_GIT)
    if git_dir != own:
        _walk(git_dir, _READ_BY_GIT)
    _walk_borrowed(git_dir / "objects", _DEEPEST)
    for name in ("config", "config.worktree"):
        _check(git_dir / name, _DEEPEST)


def git_dirs(root: Path) -> tuple[Path, Path]:
    """Name a checkout's own git directory and the one that all its worktrees share; asks no git."""
    own = _led_to(root / ".git", b"gitdir: ")
    return own, _led_to(own / "commondir")


def _led_to(file: Path, prefix: bytes = b"") -> Path:
    """Give the directory that a file names, or else the one in whose place it stands."""
    named = _lines(file)
    if not named or not named[0].startswith(prefix):
        return file if file.is_dir() else file.parent
    return file.parent / os.fsdecode(named[0].removeprefix(prefix))


def _lines(file: Path) -> list[bytes]:
    try:
        return read_plain(file, _LARGEST).splitlines()
    except OSError:
        return []


def _walk_borrowed(store: Path, depth: int) -> None:
    for line in _lines(store / "info" / "alternates") if depth else ():
        borrowed = store / os.fsdecode(line)
        _walk(borrowed)
        _walk_borrowed(borrowed, depth - 1)


def _walk(directory: Path, only: Container[str] | None = None) -> None:
    """Look at what stands in a directory, and in its own; `only` names those of them to enter."""
    try:
        with os.scandir(directory) as found:
            entries = list(found)
    except OSError:
        return  # git says what is wrong with it, if it is
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if only is None or entry.name in only:
                _walk(Path(entry.path))
        elif not entry.is_file(follow_symlinks=False):
            _refuse_to_wait(entry)


def _refuse_to_wait(entry: os.DirEntry[str]) -> None:
    """Refuse a pipe or a device, also behind a link; nobody waits for a socket."""
    try:
        mode = entry.stat().st_mode
    except OSError:
        return
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise UserError(
            f"{entry.path} is no plain file, but stands where git reads: take it away first"
        )


def _check(path: Path, depth: int) -> None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # git says what is wrong with it, if it is
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UserError(f"{path} is no plain file, but git's configuration: take it away first")
        text = file.read(_LARGEST).decode("utf-8", "replace")
    if depth:
        for included in _included(text):
            _check(path.parent / os.path.expanduser(included), depth - 1)


def _included(text: str) -> Iterator[str]:
    inside = False
    for line in text.splitlines():
        section = _SECTION.match(line)
        if section or line.lstrip().startswith("["):
            inside = section is not None
            line = section[1] if section else ""
        found = _PATH.match(line)
        if inside and found:
            yield found[1].strip('"')

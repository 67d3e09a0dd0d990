"""What a repository's configuration includes: refused where git would wait for it.

git opens whatever an `[include]` names, and a named pipe there is waited for until somebody writes.
Only paths are read here; what the files say is git's own business.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from tilth.base.errors import UserError

_LARGEST = 1 << 20
_DEEPEST = 10
_SECTION = re.compile(r"^\s*\[\s*include(?:if)?\b[^\]]*\]\s*(.*)$", re.IGNORECASE)
_PATH = re.compile(r"^\s*path\s*=\s*(.+?)\s*$", re.IGNORECASE)


def refuse_what_waits(root: Path) -> None:
    """Raise UserError if the configuration of the repository at `root` leads to no plain file."""
    git_dir = root / ".git"
    for name in ("config", "config.worktree"):
        _check(git_dir / name, _DEEPEST)


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

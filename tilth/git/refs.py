"""A ref's commit: read from its own file where git keeps it in one, asked of git otherwise.

git puts the file of a ref in place whole and heeds it before any packed one, so the file says what
git would say. It is read anew every time, because anybody may move a ref. Nothing is written.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from tilth.git.command import Git

_IDS = {40: re.compile(rb"([0-9a-f]{40})\n"), 64: re.compile(rb"([0-9a-f]{64})\n")}
_LONGEST = 65


def resolve(git: Git, ref: str, head: str) -> str | None:
    """Give the commit of a ref named in full, or None without one; `head` tells the hash in use."""
    store = git.common or git.git_dir
    try:
        found = _IDS[len(head)].fullmatch(_start(store / ref))
    except (FileNotFoundError, IsADirectoryError):
        if _keeps_files_alone(store):
            return None
        found = None
    except OSError:
        found = None
    if found is not None:
        return found[1].decode()
    answer = git.ask("rev-parse", "--verify", "--quiet", ref, ok=(0, 1))
    return answer.out.decode().strip() or None


def _start(path: Path) -> bytes:
    """Read the start of a plain file; of what is none, nothing. A link is left to git."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if stat.S_ISDIR(mode := os.fstat(handle).st_mode):
            raise IsADirectoryError
        return os.read(handle, _LONGEST + 1) if stat.S_ISREG(mode) else b""
    finally:
        os.close(handle)


def _keeps_files_alone(store: Path) -> bool:
    # Looked at after the file: git packs a ref before it takes the file away.
    packed = (store / "packed-refs", store / "reftable")
    return (store / "refs" / "heads").is_dir() and not any(map(os.path.lexists, packed))

"""A borrowed repository: one of our own that reads another's objects and writes only to itself.

Sessions can run in it as in the original, and nothing of it is ever seen there: its branches,
worktrees and new objects go away with its directory.
"""

from __future__ import annotations

import os
from pathlib import Path

from tilth.base.errors import UserError
from tilth.git.command import Git, configuration, write_file, writing
from tilth.git.source import SourceRepo


def borrow(source: SourceRepo, head: str, into: Path) -> SourceRepo:
    """Make a git directory at `into` that stands at `head` and borrows from `source`.

    Its checkout is said to be the source's own, so that interpreters and editable installs that
    belong to it are found as before.
    """
    stores = _line(source.git_dir / "objects")
    write_file(into / "objects" / "info" / "alternates", stores)
    write_file(into / "HEAD", f"{head}\n".encode())
    write_file(into / "config", configuration(head).encode())
    with writing(into):
        (into / "refs" / "heads").mkdir(parents=True)
    _require(Git(into, into), head, source.root)
    stands_on = (source.git_dir / "objects", *source.stores)
    return source.model_copy(update={"git_dir": into, "head": head, "stores": stands_on})


def _line(store: Path) -> bytes:
    """Write a path as `alternates` has it: quoted where it holds a line's end."""
    name = os.fsencode(store)
    if b"\n" in name:
        escaped = name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
        name = b'"' + escaped + b'"'
    return name + b"\n"


def _require(git: Git, commit: str, root: Path) -> None:
    answer = git.ask("cat-file", "-e", f"{commit}^{{commit}}", ok=(0, 1, 128))
    if answer.code != 0:
        raise UserError(
            f"commit {commit} is no longer in {root}: fetch it back into that repository"
        )

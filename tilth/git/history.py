"""History: what landed, read for people: commits, their trailers, files and lines.

The one place for GitPython. It is never let near the user's repository, whose configuration could
make it run code (`core.fsmonitor` in `diff`, `stats` and `is_dirty`): it opens an empty bare
repository of ours that borrows the objects through `alternates`, so there is no hook, filter,
driver or ref in it. What it cannot read (SHA-256) or could be led astray in (an environment that
points git elsewhere) is read through the git binary instead, with the same result. Read only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tilth.base.errors import WorkspaceError
from tilth.git import trees
from tilth.git.changes import ChangeSize
from tilth.git.command import Git, base_environment, scratch, visible, write_file
from tilth.git.commits import CommitRecord, read_commit
from tilth.git.source import SourceRepo

if TYPE_CHECKING:
    from git import Repo

_BARE = "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n"
_SHA1 = 40
# Whoever sets one of these means another repository, program or configuration.
_ELSEWHERE = frozenset(
    f"GIT_{name}"
    for name in (
        "ALTERNATE_OBJECT_DIRECTORIES",
        "COMMON_DIR",
        "CONFIG",
        "CONFIG_COUNT",
        "CONFIG_PARAMETERS",
        "DIR",
        "EXEC_PATH",
        "EXTERNAL_DIFF",
        "NAMESPACE",
        "OBJECT_DIRECTORY",
        "PYTHON_GIT_EXECUTABLE",
        "PYTHON_REFRESH",
        "WORK_TREE",
    )
)


class History(Protocol):
    """Read commits and what lies between two of them."""

    def commit(self, id: str) -> CommitRecord:
        """Read what one commit says about itself."""

    def size(self, base: str, tree: str) -> ChangeSize:
        """Count the lines that differ between two trees, and name the paths they are in."""


@contextmanager
def open_history(source: SourceRepo) -> Iterator[History]:
    """Open a repository's history for reading, in the way that can read it."""
    if not _fits(source):
        yield _ThroughBinary(source)
        return
    with scratch(source.git_dir, source.head) as lent:
        bare = lent.root / "git"
        borrow_objects(source, bare)
        repo = _open(bare)
        if repo is None:
            yield _ThroughBinary(source)
            return
        try:
            yield _ThroughGitPython(repo)
        finally:
            repo.close()


def borrow_objects(source: SourceRepo, bare: Path) -> None:
    """Make a git directory of ours a bare repository that reads another's objects."""
    stores = (source.git_dir / "objects", *source.stores)
    text = "".join(f"{store}\n" for store in stores)
    write_file(bare / "objects" / "info" / "alternates", os.fsencode(text))
    write_file(bare / "config", _BARE.encode())


def _fits(source: SourceRepo) -> bool:
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    # It looks for git where the shell would: a relative place may be the repository's own.
    is_plain = all(os.path.isabs(entry) for entry in entries)
    # A path with a line's end cannot stand in `alternates`.
    is_named = str(source.git_dir).isprintable()
    return len(source.head) == _SHA1 and is_plain and is_named and _ELSEWHERE.isdisjoint(os.environ)


def _open(bare: Path) -> Repo | None:
    try:
        from git import Repo
    except ImportError:
        return None  # it found no git that it could start
    repo = Repo(bare, expand_vars=False)
    repo.git.update_environment(**base_environment())
    return repo


class _ThroughGitPython:
    """Read a bare repository of ours."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def commit(self, id: str) -> CommitRecord:
        # As it is stored: its own way to a commit starts git three times.
        with _told():
            found = self._repo.odb.stream(bytes.fromhex(id))
            # Whole, whatever it is: a stream that is left half read complains when it is destroyed.
            raw = found.read()
            if found.type != b"commit":
                raise ValueError(f"{id} is no commit")
            return read_commit(id, raw)

    def size(self, base: str, tree: str) -> ChangeSize:
        with _told():
            listing: bytes = self._repo.git.diff_tree(
                *trees.COUNTED, base, tree, stdout_as_string=False, strip_newline_in_stdout=False
            )
        return trees.read_size(listing)


class _ThroughBinary:
    """Read the repository through git itself, with all that it could start switched off."""

    def __init__(self, source: SourceRepo) -> None:
        self._source = source

    def commit(self, id: str) -> CommitRecord:
        with scratch(self._source.git_dir, self._source.head) as lent:
            git: Git = lent.git(lent.root)
            [raw] = git.read_objects([id])
        return read_commit(id, raw)

    def size(self, base: str, tree: str) -> ChangeSize:
        return trees.size(self._source, base, tree)


@contextmanager
def _told() -> Iterator[None]:
    """Say in our own words that something could not be read."""
    from git.exc import GitError, ODBError

    try:
        yield
    except (GitError, ODBError, ValueError) as error:
        said = visible(str(error).strip().splitlines()[-1] if str(error).strip() else "no reason")
        raise WorkspaceError(f"git history cannot be read: {said[:300]}") from None

"""A linked worktree: its directory and its registration in the repository.

The registration is found by the path it names, never through the worktree's own `.git` file, which
the worker might change. Files are put in place by git from a scratch index and the result handed to
the worktree as its own. Branches and commits are not its business.
"""

from __future__ import annotations

import os
import shutil
import stat
import threading
from contextlib import suppress
from pathlib import Path

from tilth.base.errors import WorkspaceError
from tilth.git.command import Git, Scratch, scratch, write_file, writing
from tilth.git.freeze import note_refused, stage
from tilth.git.source import SourceRepo
from tilth.sandbox.removal import remove_tree

_REFTABLE_STUB = "ref: refs/heads/.invalid"
_adding = threading.Lock()


class Worktree:
    """Keep one worktree on one branch, or at one commit."""

    def __init__(self, source: SourceRepo, path: Path, branch: str = "", at: str = "") -> None:
        self.path = path
        self._source = source
        self._branch = branch
        # Where HEAD stands without a branch: the worker sees its own base and no branch.
        self.at = at

    def registration(self) -> Path | None:
        """Find the directory in which the repository keeps this worktree's state."""
        # Never by where a link in the worktree's place leads: that is somebody else's.
        mine = os.path.join(os.path.realpath(self.path.parent), self.path.name, ".git")
        with suppress(FileNotFoundError):
            for entry in sorted((self._source.git_dir / "worktrees").iterdir()):
                with suppress(OSError):
                    named = (entry / "gitdir").read_text(errors="surrogateescape").rstrip("\n")
                    if os.path.normpath(entry / named) == mine:
                        return entry
        return None

    def is_whole(self) -> bool:
        """Tell whether it is there, registered, and was once filled (only then has it an index)."""
        if self.path.is_symlink() or not self.path.is_dir():
            return False
        registration = self.registration()
        return registration is not None and (registration / "index").exists()

    def clear_locks(self) -> None:
        """Remove lock files a killed git left in the registration."""
        registration = self.registration()
        if registration is not None:
            for name in ("index.lock", "HEAD.lock"):
                (registration / name).unlink(missing_ok=True)

    def add(self) -> None:
        """Register the worktree and make its directory, still without files."""
        git = Git(self._source.git_dir, self._source.git_dir)
        where = ("--detach", str(self.path), self.at) if self.at else (str(self.path), self._branch)
        # git picks a free name for the registration, which two at once would both take.
        with _adding:
            git.run("worktree", "add", "--no-checkout", *where)
        with writing(self.path):
            self.path.chmod(stat.S_IRWXU)

    def put(self, rev: str) -> None:
        """Make the files equal to `rev`; only what it ignores, and caches, may stay."""
        with scratch(self._source.git_dir, self._source.head) as lent:
            git = lent.git(self.path)
            found = stage(git, lent, rev)
            if found.added:
                note_refused(found, git.run("ls-files", "-z").split(b"\0"))
            for path in found.litter:
                delete(self.path / os.fsdecode(path))
            git.run("read-tree", "--reset", "-u", rev)
            self._hand_over(lent.root / "index")

    def check_out(self, lent: Scratch, paths: bytes) -> None:
        """Write the named files (each ended by NUL) as a scratch's index has them; sync with it."""
        lent.git(self.path).run("checkout-index", "--force", "-z", "--stdin", stdin=paths)
        self._sync(lent)

    def sync(self, rev: str) -> None:
        """Bring the worker's view in step with `rev` and leave the files as they are."""
        with scratch(self._source.git_dir, self._source.head) as lent:
            lent.git(self.path).run("read-tree", rev)
            self._sync(lent)

    def _sync(self, lent: Scratch) -> None:
        # Exit 1 says that some files differ from the index, which is no news here.
        lent.git(self.path).ask("update-index", "-q", "--refresh", ok=(0, 1))
        self._hand_over(lent.root / "index")

    def detach(self) -> tuple[bool, bool]:
        """Remove directory and registration; tell which of the two were there."""
        registration = self.registration()
        there = os.path.lexists(self.path)
        delete(self.path)
        if registration is not None:
            delete(registration)
        return there, registration is not None

    def _hand_over(self, index: Path) -> None:
        registration = self.registration()
        if registration is None:
            raise WorkspaceError(f"the worktree {self.path} is not registered: resume rebuilds it")
        with writing(registration):
            staged = registration / "index.tilth"
            shutil.copyfile(index, staged)
            staged.replace(registration / "index")
            (registration / "index.lock").unlink(missing_ok=True)
        head = (self.at,) if self.at else (f"ref: refs/heads/{self._branch}", _REFTABLE_STUB)
        _mend(registration / "HEAD", *head)
        _mend(self.path / ".git", f"gitdir: {registration}")


def registered_below(source: SourceRepo, folder: Path) -> tuple[Path, ...]:
    """Name the worktrees that a repository knows below a directory, there or not."""
    found = []
    with suppress(FileNotFoundError):
        for entry in sorted((source.git_dir / "worktrees").iterdir()):
            with suppress(OSError):
                named = (entry / "gitdir").read_text(errors="surrogateescape").rstrip("\n")
                path = Path(os.path.normpath(entry / named)).parent
                if path.parent == Path(os.path.realpath(folder)):
                    found.append(folder / path.name)
    return tuple(found)


def delete(path: Path) -> None:
    """Remove a file or a whole directory, closed to us or not; a missing one is fine."""
    with writing(path):
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            path.unlink(missing_ok=True)


def _mend(file: Path, *texts: str) -> None:
    with suppress(OSError, UnicodeDecodeError):
        if not file.is_symlink() and file.read_text().rstrip("\n") in texts:
            return
    delete(file)
    write_file(file, os.fsencode(f"{texts[0]}\n"))

"""The session's workspace: its branch and worktree, frozen, committed to, put back and removed.

The branch moves only by compare-and-swap, from where the session left it to a commit of the tree
the caller names: one that somebody else has moved is left as it is. The worker's view (the
worktree's own index and HEAD) is brought in step after each move and never read. The user's
checkout, index and other branches are not touched, and nothing is merged or pushed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from tilth.base.clock import Clock
from tilth.base.errors import UserError, WorkspaceError
from tilth.base.failpoint import reach
from tilth.base.values import Value
from tilth.git import attributes, freeze, links, merging, refs, trees
from tilth.git.changes import Change, Frozen, Merged
from tilth.git.command import Git, scratch, write_file
from tilth.git.commits import CommitMessage, CommitRecord, read_commit
from tilth.git.fingerprint import Contents
from tilth.git.source import SESSION_BRANCHES, SourceRepo
from tilth.git.worktree import Worktree

_SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


class Removed(Value):
    """Say what a removal found; False and empty mean it was already gone."""

    worktree: bool
    registration: bool
    branch: bool
    refs: tuple[str, ...]


class Workspace:
    """Work on one session's branch and worktree in one source repository."""

    def __init__(
        self,
        source: SourceRepo,
        path: Path,
        session: str,
        clock: Clock,
        *,
        guard: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        if not _SESSION_ID.fullmatch(session):
            raise UserError(f"{session!r} is not a session id: `tilth info` lists them")
        self.source = source
        self.path = path.absolute()
        self.session = session
        self.branch = f"{SESSION_BRANCHES}{session}"
        self._clock = clock
        # Refs move inside it: a run that another has taken over moves none.
        self._guard = guard
        self._ref = f"refs/heads/{self.branch}"
        self._asides = f"refs/tilth/{session}/"
        self._worktree = self._open_worktree()
        self._contents = Contents(self.path)
        # No work tree but the git directory itself: the user's checkout is out of reach.
        self._git = Git(source.git_dir, source.git_dir)

    def _open_worktree(self) -> Worktree:
        return Worktree(self.source, self.path, self.branch)

    # The worktree's life

    def create(self, base: str) -> None:
        """Start the session branch at `base` and check it out."""
        if self.tip() is not None:
            raise UserError(f"branch {self.branch} exists already: resume or reset that session")
        self._move("tilth: start", (self._ref, base, "0" * len(base)))
        reach("after starting the branch")
        self._worktree.add()
        reach("after adding the worktree")
        self._worktree.put(base)

    def attached(self) -> bool:
        """Tell whether the worktree is there and registered."""
        return self._worktree.is_whole()

    def registration(self) -> Path | None:
        """Find the directory in which the repository keeps the worktree's state."""
        return self._worktree.registration()

    def rebuild(self) -> None:
        """Make a lost or half removed worktree again, from the branch."""
        tip = self._existing_tip()
        self._worktree.detach()
        reach("after detaching the worktree")
        self._worktree.add()
        reach("after adding the worktree")
        self._worktree.put(tip)

    def remove(self) -> Removed:
        """Remove all that the session left in the repository, whatever is still there."""
        if not self.source.git_dir.is_dir():
            there, registered = self._worktree.detach()
            return Removed(worktree=there, registration=registered, branch=False, refs=())
        self._refuse_if_in_use()
        there, registered = self._worktree.detach()
        refs = self.asides()
        tip = self.tip()
        for ref in (*refs, *([self._ref] if tip else [])):
            self._drop(ref)
        return Removed(worktree=there, registration=registered, branch=tip is not None, refs=refs)

    # What stands in it

    def freeze(self, base: str) -> Frozen:
        """Write the worktree's content as a tree, counted from `base`."""
        return freeze.freeze(self.source, self.path, base)

    def export(self, tree: str, into: Path) -> None:
        """Write every file of `tree` below `into`."""
        freeze.export(self.source, tree, into)

    def diff(self, base: str, tree: str) -> str:
        """Compare two trees as a unified diff."""
        return trees.diff(self.source, base, tree)

    def changes(self, base: str, tree: str) -> tuple[Change, ...]:
        """List the paths that differ between two trees."""
        return trees.changes(self.source, base, tree)

    def merge(self, *, base: str, onto: str, change: str) -> Merged:
        """Put what leads from `base` to `change` onto `onto`, without touching files or refs."""
        return merging.merge(self.source, base=base, onto=onto, change=change)

    def files(self, rev: str) -> tuple[str, ...]:
        """List every file of a tree."""
        return trees.files(self.source, rev)

    def tree_of(self, rev: str) -> str:
        """Name the tree of a commit."""
        return trees.tree_of(self.source, rev)

    def read(self, rev: str, path: str) -> bytes | None:
        """Give a file's content in `rev`; None if there is no such file."""
        return trees.read(self.source, rev, path)

    def links(self, rev: str, *below: str) -> dict[str, str]:
        """Give the links in `rev`, of all or below a path, with the path that each leads to."""
        return links.links(self.source, rev, *below)

    def attributes(self, tree: str, paths: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
        """Give what git's attributes set for files of a tree."""
        return attributes.attributes(self.source, tree, paths)

    def has_file(self, path: str) -> bool:
        """Tell whether a file stands in the worktree now, whatever a model calls a path."""
        try:
            file = (self.path / path).resolve()
            return file.is_relative_to(self.path.resolve()) and file.is_file()
        except (OSError, RuntimeError, ValueError):
            return False

    def fingerprint(self) -> str | None:
        """Give what the worktree's files say now as one hash, or None if that cannot be told."""
        return self._contents.fingerprint()

    def restore(self, rev: str) -> None:
        """Make files and index equal to `rev`; what it ignores, and caches, may stay."""
        self._worktree.put(rev)

    # The branch

    def tip(self) -> str | None:
        """Give the branch's commit, or None if the branch is gone."""
        return self._resolve(self._ref)

    def commit(
        self, *, tree: str, parent: str, message: CommitMessage, restored: bool = False
    ) -> str:
        """Commit `tree` on top of `parent`, at which the branch must stand, and move it there.

        The worker's view follows, unless the files are to be `restored` anyway.
        """
        commit = self._put_on_branch(tree, parent, message)
        if not restored:
            self._worktree.sync(commit)
        return commit

    def _put_on_branch(self, tree: str, parent: str, message: CommitMessage) -> str:
        self._require_tip(parent)
        commit = self._write(tree, parent, message)
        reach("before moving the branch")
        self._move("tilth: commit", (self._ref, commit, parent))
        reach("after moving the branch")
        return commit

    def newest(self) -> CommitRecord | None:
        """Read the commit at the branch's tip, whoever made it."""
        tip = self.tip()
        return None if tip is None else self.record(tip)

    def clear_locks(self) -> None:
        """Remove lock files a killed git left on what is this session's alone."""
        refs = self.source.git_dir / "refs"
        locks = [refs / "heads" / f"{self.branch}.lock"]
        locks += (refs / "tilth" / self.session).glob("*.lock")
        for lock in locks:
            # A branch named `session` leaves no such directory: git says so when it is to be made.
            with suppress(NotADirectoryError):
                lock.unlink(missing_ok=True)
        self._worktree.clear_locks()

    def seed(self, files: Mapping[str, bytes], message: CommitMessage) -> str:
        """Write files into the worktree and commit only them."""
        parent = self._existing_tip()
        paths = b"".join(os.fsencode(path) + b"\0" for path in files)
        with scratch(self.source.git_dir, self.source.head) as lent:
            git = lent.git(lent.directory("seed"))
            for path, content in files.items():
                _seed_file(git.work_tree, path, content)
            git.run("read-tree", parent)
            git.run("update-index", "--add", "--replace", "-z", "--stdin", stdin=paths)
            commit = self._put_on_branch(git.line("write-tree"), parent, message)
            reach("before checking out the seed")
            self._worktree.check_out(lent, paths)
        return commit

    def commits(self, since: str) -> tuple[CommitRecord, ...]:
        """Read this session's commits after `since`, oldest first."""
        tip = self._existing_tip()
        if tip == since:
            return ()
        ids = self._git.line("rev-list", "--first-parent", "--reverse", tip, f"^{since}").split()
        records = map(read_commit, ids, self._git.read_objects(ids))
        return tuple(record for record in records if record.session == self.session)

    # Work set aside

    def asides(self) -> tuple[str, ...]:
        """List the refs under which work of this session is set aside."""
        return tuple(self._git.line("for-each-ref", "--format=%(refname)", self._asides).split())

    def aside(self, ref: str) -> str | None:
        """Give the commit that keeps work set aside under `ref`, `refs/tilth/<session>/…`."""
        if not ref.startswith(self._asides):
            raise WorkspaceError(f"{ref} is not below {self._asides}")
        return self._resolve(ref)

    def set_aside(self, ref: str, commit: str, back_to: str) -> None:
        """Keep the branch's own `commit` under `ref`; take branch and files back to `back_to`."""
        tip = self.tip()
        if tip != back_to:
            self._require_tip(commit)
        kept = self.aside(ref) or "0" * len(commit)
        reach("before setting aside")
        moves = ((ref, commit, kept), (self._ref, back_to, tip or commit))
        self._move("tilth: set aside", *moves)
        reach("after setting aside")
        self._worktree.put(back_to)

    def keep_aside(self, ref: str, *, tree: str, parent: str, message: CommitMessage) -> str:
        """Commit `tree` under `ref` alone; the branch stays where it is."""
        kept = self.aside(ref) or "0" * len(parent)
        commit = self._write(tree, parent, message)
        reach("before keeping work aside")
        self._move("tilth: keep aside", (ref, commit, kept))
        reach("after keeping work aside")
        return commit

    def apply_aside(self, ref: str) -> bool:
        """Put work that was set aside back into the files; on conflict leave them clean."""
        commit = self.aside(ref)
        if commit is None:
            raise WorkspaceError(f"nothing is set aside under {ref}")
        tip = self._ground()
        with scratch(self.source.git_dir, self.source.head) as lent:
            git = lent.git(self.path)
            change = trees.patch(git, f"{commit}^", commit)
            git.run("read-tree", tip)
            apply = ("apply", "--cached", "--whitespace=nowarn", "-")
            fits = not change or git.ask(*apply, stdin=change, ok=(0, 1)).code == 0
            tree = git.line("write-tree") if fits else tip
        self._worktree.put(tree)
        self._worktree.sync(tip)
        return fits

    def drop_aside(self, ref: str) -> None:
        """Forget work that was set aside."""
        if self.aside(ref) is not None:
            self._drop(ref)

    def _move(self, why: str, *moves: tuple[str, str, str]) -> None:
        with self._guard():
            self._git.move_refs(why, *moves)

    def _drop(self, ref: str) -> None:
        with self._guard():
            self._git.run("update-ref", "-d", ref)

    def _ground(self) -> str:
        """Name the commit that the files are counted from."""
        return self._existing_tip()

    def _existing_tip(self) -> str:
        tip = self.tip()
        if tip is None:
            raise WorkspaceError(f"branch {self.branch} is gone from {self.source.root}")
        return tip

    def _require_tip(self, expected: str) -> None:
        tip = self._existing_tip()
        if tip != expected:
            raise WorkspaceError(self.moved_from(expected, tip))

    def moved_from(self, left_at: str, tip: str) -> str:
        """Say that somebody else has moved the branch, and how it is put back."""
        return (
            f"branch {self.branch} was moved by somebody else: it is at {tip}, the session "
            f"left it at {left_at}; nothing was overwritten: move it back with `git "
            f"update-ref {self._ref} {left_at} {tip}`, then `tilth resume {self.session}`"
        )

    def _resolve(self, ref: str) -> str | None:
        return refs.resolve(self._git, ref, self.source.head)

    def record(self, commit: str) -> CommitRecord:
        """Read one commit."""
        [raw] = self._git.read_objects([commit])
        return read_commit(commit, raw)

    def _write(self, tree: str, parent: str, message: CommitMessage) -> str:
        date = f"@{int(self._clock.now().timestamp())} +0000"
        written = self._git.run(
            "commit-tree",
            tree,
            "-p",
            parent,
            stdin=message.text().encode(),
            environment={"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, **_IDENTITY},
        )
        commit = written.decode().strip()
        trees.note_commit(self.source, commit, tree)
        return commit

    def _refuse_if_in_use(self) -> None:
        mine = os.path.realpath(self.path)
        for block in self._git.line("worktree", "list", "--porcelain").split("\n\n"):
            head, *about = block.split("\n")
            place = head.removeprefix("worktree ")
            if f"branch {self._ref}" in about and place != mine and os.path.isdir(place):
                raise UserError(f"{self.branch} is checked out at {place}: switch branches there")


_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Tilth"), ("EMAIL", "tilth@localhost"))
}


def _seed_file(root: Path, path: str, content: bytes) -> None:
    parts = path.split("/")
    if not all(parts) or any(part.lower() in (".", "..", ".git") for part in parts):
        raise WorkspaceError(f"{path!r} is not a path inside the worktree")
    write_file(root / path, content)

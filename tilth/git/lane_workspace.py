"""A lane's workspace: the worktree in which one of several tasks is worked on at the same time.

It stands at a commit of its own, the task's base, on no branch. Commits go onto the session's
branch as ever, by compare-and-swap; the files here are not touched by that.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilth.base.errors import WorkspaceError
from tilth.base.failpoint import reach
from tilth.base.values import Value
from tilth.git import merging
from tilth.git.commits import CommitMessage, CommitRecord
from tilth.git.picking import pick, tree_of
from tilth.git.source import SourceRepo
from tilth.git.workspace import Workspace
from tilth.git.worktree import Worktree


class LaneWorkspace(Workspace):
    """Work on one task of a session in a worktree of its own."""

    # The commit its files are counted from, once it stands at one.
    _at: str | None = None

    def _open_worktree(self) -> Worktree:
        return Worktree(self.source, self.path)

    def stand_at(self, base: str) -> bool:
        """Count the files from `base` from now on; tell whether the worktree had to be made."""
        self._at = self._worktree.at = base
        self._worktree.clear_locks()
        if self.attached():
            return False
        self._worktree.detach()
        reach("before adding a lane")
        self._worktree.add()
        reach("after adding a lane")
        self._worktree.put(base)
        return True

    def put(self, tree: str) -> None:
        """Make the files equal to `tree`, and the worker's view to the base."""
        self._worktree.put(tree)
        self._worktree.sync(self._ground())

    def commit(
        self, *, tree: str, parent: str, message: CommitMessage, restored: bool = False
    ) -> str:
        """Commit `tree` on top of `parent`, at which the branch must stand; leave the files."""
        return self._put_on_branch(tree, parent, message)

    def _ground(self) -> str:
        if self._at is None:
            raise WorkspaceError(f"the worktree {self.path} stands at no commit yet")
        return self._at


class Stack(Value):
    """Name a commit that was put together; `exact` if it holds no more than was asked for."""

    commit: str
    exact: bool = True


def stacked(source: SourceRepo, start: str, records: Sequence[CommitRecord]) -> Stack:
    """Give a commit that holds `start` and exactly these commits of the branch, in their order.

    Where one does not fit without what came between them, it is the branch up to the last of them.
    """
    tip, tree = start, tree_of(source, start)
    for record in records:
        if record.parent == tip:
            tip, tree = record.id, record.tree
            continue
        if record.parent is None:
            raise WorkspaceError(f"commit {record.id} has no parent")
        merged = merging.merge(source, base=record.parent, onto=tree, change=record.id)
        if not merged.clean:
            return Stack(commit=records[-1].id, exact=False)
        tip, tree = pick(source, record, tree=merged.tree, parent=tip), merged.tree
    return Stack(commit=tip)

"""A session's branch and worktree: each made where it is missing, and refused where it was moved.

A first start and a resume take the same steps, so a crash at any step of the first is mended by the
next.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilth.base.errors import CorruptSession
from tilth.git.commits import CommitRecord, seed_message
from tilth.git.workspace import Workspace
from tilth.log.events import Emit, SeedCommitted
from tilth.log.state import SessionState
from tilth.session.files import read_tests
from tilth.session.lost_log import lost
from tilth.session.session import Session


def make_worktree(session: Session, workspace: Workspace, memory: SessionState) -> bool:
    """Make branch and worktree where they are missing; tell whether a worktree had been lost."""
    workspace.clear_locks()
    tip = workspace.tip()
    lost = _make_missing(session, workspace, memory, tip)
    check_branch(session, workspace, memory, tip)
    return lost


def _make_missing(
    session: Session, workspace: Workspace, memory: SessionState, tip: str | None
) -> bool:
    if tip is None:
        if memory.start is not None:
            was = _left_at(session, workspace, memory)
            raise CorruptSession(
                f"branch {workspace.branch} is gone from {workspace.source.root}; put it back with "
                f"`git branch {workspace.branch} {was}`, or give the session up with "
                f"`tilth reset {session.id}`"
            )
        workspace.create(session.checkpoint.base_commit)
    elif not workspace.attached():
        workspace.rebuild()
        return memory.start is not None
    elif memory.start is None:
        workspace.restore(memory.tip or session.checkpoint.base_commit)
    return False


def check_branch(
    session: Session, workspace: Workspace, memory: SessionState, tip: str | None = None
) -> None:
    """Refuse a branch that somebody else has moved: the record would no longer be about it."""
    tip = tip or workspace.tip()
    expected = memory.tip or session.checkpoint.base_commit
    newest = workspace.newest()
    if tip is None or newest is None or tip == expected:
        return
    # One commit on it may be of a kill before its record, or of a task that failed.
    if newest.session == session.id and newest.parent == expected:
        return
    if memory.start is None:
        raise lost(session.log_path, workspace.branch)
    cure = workspace.moved_from(_left_at(session, workspace, memory), tip)
    raise CorruptSession(f"{cure}; or give the session up with `tilth reset {session.id}`")


def _left_at(session: Session, workspace: Workspace, memory: SessionState) -> str:
    """Name the commit to put the branch back to: no work that stands nowhere else is left out."""
    kept = {workspace.aside(ref) for ref in workspace.asides()}
    left_at = memory.tip if memory.left_at in kept else memory.left_at
    return left_at or session.checkpoint.base_commit


def commit_seed(session: Session, workspace: Workspace, emit: Emit) -> None:
    """Commit the acceptance tests that the repository lacks, or find the commit that has them."""
    base = session.checkpoint.base_commit
    files = _new_tests(session, workspace, base)
    if not files:
        return
    made = _seed_commit(workspace.commits(base))
    if made is not None:
        workspace.restore(made)
    else:
        message = seed_message(len(session.plan.tasks), len(files), session=session.id)
        made = workspace.seed(files, message)
    emit(SeedCommitted(commit=made, files=tuple(sorted(files))))


def _new_tests(session: Session, workspace: Workspace, base: str) -> Mapping[str, bytes]:
    """Give the seed tests that the repository does not hold already, as they are."""
    tests = {f"tests/{name}": content for name, content in read_tests(session.seed_tests).items()}
    return {
        path: content for path, content in tests.items() if workspace.read(base, path) != content
    }


def _seed_commit(records: tuple[CommitRecord, ...]) -> str | None:
    return next((record.id for record in records if record.task is None), None)

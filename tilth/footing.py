"""The footing: a session's branch, worktree, start and seed commit, each made where it is missing.

A first start and a resume stand up in the same way, so a crash at any step of the first is mended
by the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tilth.commits import CommitRecord, seed_message
from tilth.errors import CorruptSession
from tilth.events import Emit
from tilth.payloads import SeedCommitted, SessionStart
from tilth.recall.memory import Memory
from tilth.session import Session
from tilth.workspace import Workspace


class Prepare(Protocol):
    """Run the project's setup, if that is still to be done or to be done again."""

    def __call__(self, emit: Emit, *, again: bool) -> None: ...


@dataclass(frozen=True)
class Footing:
    """Hold what a session stands on, and how it would announce itself."""

    session: Session
    workspace: Workspace
    memory: Memory
    start: SessionStart
    prepare: Prepare | None = None


LOST_WORKTREE = "the worktree was lost and is rebuilt from the branch; uncommitted work is gone"


def stand_up(footing: Footing, emit: Emit) -> tuple[str, ...]:
    """Make what is missing, and say what had been lost."""
    session, workspace, memory = footing.session, footing.workspace, footing.memory
    notes = _ground(session, workspace, memory)
    check_branch(session, workspace, memory)
    if not memory.started:
        emit(footing.start)
    if not memory.seeded:
        _seed(session, workspace, emit)
    if footing.prepare is not None:
        footing.prepare(emit, again=bool(notes))
    return notes


def _ground(session: Session, workspace: Workspace, memory: Memory) -> tuple[str, ...]:
    workspace.clear_locks()
    if workspace.tip() is None:
        if memory.started:
            was = memory.tip or session.checkpoint.base_commit
            raise CorruptSession(
                f"branch {workspace.branch} is gone from {workspace.source.root}; put it back with "
                f"`git branch {workspace.branch} {was}`, or give the session up with "
                f"`tilth reset {session.id}`"
            )
        workspace.create(session.checkpoint.base_commit)
    elif not workspace.attached():
        workspace.rebuild()
        return (LOST_WORKTREE,) if memory.started else ()
    elif not memory.started:
        workspace.restore(memory.tip or session.checkpoint.base_commit)
    return ()


def check_branch(session: Session, workspace: Workspace, memory: Memory) -> None:
    """Refuse a branch that somebody else has moved: the record would no longer be about it."""
    tip = workspace.tip()
    known = {session.checkpoint.base_commit} if memory.tip is None else {memory.tip}
    if memory.tip in memory.failed_commits:
        # A failed task's commit is taken off again by a resume, or set aside.
        known.add(memory.parents[memory.tip])
    if tip in known:
        return
    newest = workspace.newest()
    if newest is not None and newest.session == session.id and newest.parent in known:
        return
    was = memory.tip or session.checkpoint.base_commit
    raise CorruptSession(
        f"branch {workspace.branch} was moved: it is at {tip}, the session left it at {was}; move "
        f"it back with `git update-ref refs/heads/{workspace.branch} {was}`, or give the session "
        f"up with `tilth reset {session.id}`"
    )


def _seed(session: Session, workspace: Workspace, emit: Emit) -> None:
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
    tests = {f"tests/{path.name}": path.read_bytes() for path in session.seed_tests.iterdir()}
    return {
        path: content for path, content in tests.items() if workspace.read(base, path) != content
    }


def _seed_commit(records: tuple[CommitRecord, ...]) -> str | None:
    return next((record.id for record in records if record.task is None), None)

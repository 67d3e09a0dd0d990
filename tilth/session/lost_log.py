"""A lost log: the one file that cannot be made anew, missing or empty after work was done.

Whoever lists sessions looks at a short log's first line alone, whoever writes goes by what was read
of it. A session that was killed before its first event has no log either, and nothing is lost with
it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tilth.base.errors import CorruptSession
from tilth.base.plain_file import open_plain
from tilth.contract.prd import Status
from tilth.log.state import SessionState
from tilth.session.session import Checkpoint, Session, SessionStatus

_BEFORE_WORK = (SessionStatus.RUNNING, SessionStatus.INTERVIEWING)
# How a task can stand before any work: one may arrive as done.
_UNTOUCHED = (Status.PENDING, Status.DONE)
# More than a session's first event takes.
_LONG_BYTES = 16_384


class LostLog(CorruptSession):
    """Name a log that does not tell of the work which was done, and what is left of it."""


def require_log(log: Path, checkpoint: Checkpoint, tasks: Iterable[Status] = ()) -> None:
    """Raise LostLog where a session has been at work and no whole line stands in its log."""
    if _was_at_work(checkpoint, tasks) and _is_short(log) and _want(log) is not None:
        raise lost(log, checkpoint.branch)


def require_start(session: Session, state: SessionState) -> None:
    """Raise LostLog where a session has been at work and its log, as read, tells of no start."""
    checkpoint, tasks = session.checkpoint, statuses(session)
    if state.start is not None or not _was_at_work(checkpoint, tasks):
        return
    spent_unseen = checkpoint.usage and not state.spend
    begun = any(status not in _UNTOUCHED for status in tasks)
    # Before its start it can be prepared, or end because it cannot begin: both are on record.
    ended_unseen = state.prepared is None and state.stop is None
    if spent_unseen or begun or (ended_unseen and checkpoint.status not in _BEFORE_WORK):
        raise lost(session.log_path, checkpoint.branch)


def statuses(session: Session) -> tuple[Status, ...]:
    """Give how the tasks of a session stand; an interview has none yet."""
    return tuple(task.status for task in session.plan.tasks) if session.has_plan else ()


def lost(log: Path, branch: str) -> LostLog:
    """Say that a log is lost, and what is not."""
    want = _want(log) or "the log does not tell how the session began"
    return LostLog(
        f"{log}: {want}, although the session was at work",
        f"put the file back; what was committed stands on branch {branch}",
    )


def _was_at_work(checkpoint: Checkpoint, tasks: Iterable[Status]) -> bool:
    if checkpoint.usage or any(status not in _UNTOUCHED for status in tasks):
        return True
    if checkpoint.status is SessionStatus.FAILED and checkpoint.prd is None:
        # An interview that was given up before anything was said in it.
        return False
    return checkpoint.status not in _BEFORE_WORK


def _is_short(log: Path) -> bool:
    """Tell whether a log may hold no whole line; a longer one is not opened to be listed."""
    return not log.is_file() or log.stat().st_size < _LONG_BYTES


def _want(log: Path) -> str | None:
    """Say what a log wants to be one; of what is no ordinary file whoever reads it does."""
    if not os.path.lexists(log):
        return "the file is missing"
    if not log.is_file():
        return None
    try:
        with open_plain(log) as file:
            first = file.readline()
    except OSError:
        return None
    if not first:
        return "the log is empty"
    return None if first.endswith(b"\n") else "no whole line stands in the log"

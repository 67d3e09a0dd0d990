"""A lost log: the one file that cannot be made anew, empty beside a session that was at work.

It looks at sizes alone. A session that was killed before its first event has no log either, and
nothing is lost with it.
"""

from __future__ import annotations

from pathlib import Path

from tilth.base.errors import CorruptSession
from tilth.session.session import Checkpoint, SessionStatus

_BEFORE_WORK = (SessionStatus.RUNNING, SessionStatus.INTERVIEWING)


def require_log(directory: Path, checkpoint: Checkpoint) -> None:
    """Raise CorruptSession where a session has been at work and its log says nothing."""
    was_at_work = bool(checkpoint.usage) or checkpoint.status not in _BEFORE_WORK
    log = directory / "events.jsonl"
    # What is no ordinary file has no size either; whoever reads it says what it is.
    if was_at_work and log.is_file() and log.stat().st_size == 0:
        raise lost(log, checkpoint.branch)


def lost(log: Path, branch: str) -> CorruptSession:
    """Say that a log is lost, and what is not."""
    return CorruptSession(
        f"{log}: the log is empty, although the session was at work: put the file back; "
        f"what was committed stands on branch {branch}"
    )

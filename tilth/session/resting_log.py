"""The log of a session at rest, open for whoever holds the lock and has more to record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tilth.base.clock import SystemClock
from tilth.config.secrets import Mask
from tilth.log.state import SessionState
from tilth.log.writer import EventLog
from tilth.session.session import Session


@contextmanager
def resting_log(session: Session, mask: Mask, before: SessionState) -> Iterator[EventLog]:
    """Open the log of a locked session and close it; `before` is what it says so far."""
    log = EventLog(
        session.log_path,
        session=session.id,
        clock=SystemClock(),
        mask=mask,
        before=before,
        guard=session.guard,
    )
    try:
        yield log
    finally:
        log.close()

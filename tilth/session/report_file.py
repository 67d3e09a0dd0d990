"""The file `report.md`: the morning report of a session, written whole at every stop."""

from __future__ import annotations

from tilth.base.errors import CorruptSession
from tilth.log.state import SessionState
from tilth.session.session import Session


def save_report(session: Session, state: SessionState) -> None:
    """Write the morning report; a run's ending does not depend on whether it can be made."""
    from tilth.show.report_markdown import markdown
    from tilth.show.report_view import view_report

    try:
        report = view_report(session, state).report
    except CorruptSession:
        # What is broken is said by the stop, and by every command that looks.
        return
    session.save_report(markdown(report))

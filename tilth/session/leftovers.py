"""What a run may spend its leftovers on: other reviewers, and done work in the order of doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tilth.base.errors import CorruptSession
from tilth.log.past_reviews import past_reviews
from tilth.log.reattach import open_opinions
from tilth.log.state import SessionState
from tilth.session.models import Models
from tilth.session.session import Session
from tilth.task.leftovers import Leftovers


def leftovers_of(
    session: Session,
    memory: SessionState,
    state: Callable[[], SessionState],
    models: Models,
    *,
    wished: bool,
) -> Leftovers | None:
    """Give what second opinions need; None where nobody asked for them or could be asked.

    `memory` is how the session stood at the start, `state` how it stands now. A recording repeats
    the opinions it holds, whoever wished for them.
    """
    recorded = models.seconded
    if not models.others or (recorded is None and not wished):
        return None
    order = None if recorded is None else {name: -n for n, name in enumerate(recorded)}
    return Leftovers(
        others=models.others,
        reviews=lambda: past_reviews(session.events()),
        doubt=lambda: _doubt(session, state()) if order is None else order,
        open=open_opinions(memory),
    )


def _doubt(session: Session, state: SessionState) -> Mapping[str, int]:
    """Give the points against every task, as the report counts them."""
    from tilth.show.report_view import view_report

    try:
        return {task.id: task.doubt for task in view_report(session, state).report.tasks}
    except CorruptSession:
        # What is broken is said by the stop, and by every command that looks.
        return {}

"""The night of a session: its schedule, what it takes up of an earlier wait, and the pace here.

The pace comes from the summaries that earlier sessions on the same repository left; a session that
left none, or one that cannot be read, is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice

from pydantic import ConfigDict, ValidationError

from tilth.base.clock import Clock, SystemClock, stamp
from tilth.base.plain_file import read_plain
from tilth.base.values import Value
from tilth.config.deadline import read_deadline
from tilth.config.settings import Settings
from tilth.log.pace import paces
from tilth.log.state import SessionState
from tilth.session.catalog import readable_sessions
from tilth.session.session import Session
from tilth.task.forecast import Past
from tilth.task.night import Night

_SESSIONS = 20


@dataclass(frozen=True)
class Schedule:
    """Say by which clock a run works, until when if the user said so, and what its rest is for."""

    clock: Clock = field(default_factory=SystemClock)
    deadline: datetime | None = None
    spend_leftovers: bool = False

    @classmethod
    def read(
        cls, until: str | None, clock: Clock | None = None, *, spend_leftovers: bool = False
    ) -> Schedule:
        """Take a user's `--until`; what cannot be meant is a UserError."""
        clock = clock or SystemClock()
        deadline = read_deadline(until, clock.now()) if until is not None else None
        return cls(clock, deadline, spend_leftovers)

    @property
    def until(self) -> str | None:
        """Write the deadline as the log does."""
        return stamp(self.deadline) if self.deadline else None

    def night(
        self,
        memory: SessionState,
        state: Callable[[], SessionState],
        earlier: Callable[[], tuple[Past, ...]],
        *,
        foresees: bool,
    ) -> Night:
        """Give the night of one start; a recording that is played again foresees nothing."""
        past: list[Past] = []

        def known() -> tuple[Past, ...]:
            if not past:
                past.extend(earlier())
            return (*past, *paces(state()))

        return Night(
            deadline=self.deadline,
            began=self.clock.now(),
            pending=memory.waiting,
            paces=known if foresees else None,
        )


class _Task(Value):
    model_config = ConfigDict(frozen=True, extra="ignore")

    outcome: str
    iterations: int
    seconds: float | None = None
    cost_usd: float = 0.0
    cost_unknown_calls: int = 0
    second_usd: float = 0.0


class _Summary(Value):
    """Read of a summary only what tells the pace."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tasks: Mapping[str, _Task] = {}
    suite_seconds: float | None = None


def earlier_paces(settings: Settings, session: Session) -> tuple[Past, ...]:
    """Give what done tasks took in the latest other sessions on a session's repository."""
    found = _summaries(settings, session.checkpoint.source, but=session.id)
    return tuple(past for summary in found for past in _paces_of(summary))


def last_suite_s(settings: Settings, source: str) -> float | None:
    """Give how long a repository's own tests took when they were last run, if that is known."""
    known = (summary.suite_seconds for summary in _summaries(settings, source))
    return next((seconds for seconds in known if seconds is not None), None)


def _summaries(settings: Settings, source: str, but: str = "") -> Iterator[_Summary]:
    """Give the summaries of the latest sessions on a repository, newest first."""
    others = (
        session
        for session in readable_sessions(settings)
        if session.id != but and session.checkpoint.source == source
    )
    for session in islice(others, _SESSIONS):
        path = session.directory / "summary.json"
        try:
            yield _Summary.model_validate_json(read_plain(path))
        except (OSError, ValidationError):
            continue


def _paces_of(summary: _Summary) -> Iterator[Past]:
    for task in summary.tasks.values():
        if task.outcome == "done" and task.iterations and task.seconds is not None:
            cost = None if task.cost_unknown_calls else task.cost_usd - task.second_usd
            yield Past(seconds=task.seconds, cost_usd=cost, iterations=task.iterations)

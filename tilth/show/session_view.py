"""The view of one session: everything there is to know about it, gathered from its files.

The log is read whole, event by event: it is the truth, and what is wrong with it comes to light.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tilth.base.clock import read_moment
from tilth.base.errors import CorruptSession
from tilth.base.values import Value, read_number
from tilth.config.settings import BY_NAME, Settings
from tilth.contract.operator_requests import OperatorRequest, RequestKind, still_open
from tilth.contract.prd import Plan, Status
from tilth.log.pace import slept_seconds
from tilth.log.state import SessionState, fold
from tilth.session.lost_log import require_log, statuses
from tilth.session.session import Session, SessionStatus
from tilth.show.session_row import SessionRow, read_row
from tilth.task.budget import Allowance


class Cap(Value):
    """Hold one limit of a session and what is used of it."""

    name: str
    setting: str
    used: float
    limit: float | None


@dataclass(frozen=True)
class SessionView:
    """Hold one session as it stands now."""

    session: Session
    row: SessionRow
    plan: Plan
    state: SessionState
    caps: tuple[Cap, ...]
    allowance: Allowance | None
    open_requests: tuple[OperatorRequest, ...]
    flags: tuple[OperatorRequest, ...]


def view_session(session: Session, settings: Settings, now: datetime) -> SessionView:
    """Gather what one session's files say."""
    row = read_row(session.directory)
    if row.fault:
        raise CorruptSession(row.fault)
    state = read_state(session)
    requests, plan = session.requests(), plan_of(session)
    limits = _limits(state.settings, settings)
    running = row.status == session.checkpoint.status == SessionStatus.RUNNING
    return SessionView(
        session=session,
        row=row,
        plan=plan,
        state=state,
        caps=_caps(state, limits, now if running else None),
        allowance=_allowance(limits),
        open_requests=still_open(requests, [task.id for task in plan.with_status(Status.DONE)]),
        flags=_flags(requests, plan),
    )


def _flags(requests: Sequence[OperatorRequest], plan: Plan) -> tuple[OperatorRequest, ...]:
    """Give what a person should look at; a person's verdict on a task takes its flag away."""
    flagged = {task.id for task in plan.tasks if task.quality_flag and not task.sent_back}
    return tuple(
        line
        for line in requests
        if line.kind is RequestKind.DONE_RED
        or (line.kind is RequestKind.BELOW_BAR and line.task_id in flagged)
    )


def read_state(session: Session) -> SessionState:
    """Fold a session's log; one that is missing is a corrupt session."""
    if not session.log_path.exists():
        raise CorruptSession(f"{session.log_path}: the file is missing")
    require_log(session.log_path, session.checkpoint, statuses(session))
    return fold(session.events())


def plan_of(session: Session) -> Plan:
    """Give a session's plan; an interview may have none yet."""
    # An interview has no plan until its seed holds, and one that failed never gets one.
    planless = session.checkpoint.status in (SessionStatus.INTERVIEWING, SessionStatus.FAILED)
    if planless and not session.has_plan:
        return Plan.model_construct(tasks=())
    return session.plan


def _limits(recorded: Mapping[str, str], settings: Settings) -> Mapping[str, str]:
    """Take the limits the session ran under; what it did not record is as it is set now."""
    names = (
        "TILTH_MAX_TOKENS",
        "TILTH_MAX_COST_USD",
        "TILTH_MAX_WALL_CLOCK_MINUTES",
        "TILTH_MAX_ITERATIONS_PER_TASK",
        "TILTH_ITERATION_BONUS_PER_REJECTION",
    )
    return {name: recorded.get(name) or settings.shown(BY_NAME[name]) for name in names}


def _caps(
    state: SessionState, limits: Mapping[str, str], until: datetime | None
) -> tuple[Cap, ...]:
    began = read_moment(state.starts[-1].ts if state.starts else "")
    # What a person did with it after its stop is no part of the start.
    last = state.ended if state.stopped else state.updated
    ended = until or read_moment(last or "")
    minutes = (ended - began).total_seconds() / 60 if began and ended else 0.0
    deadline = read_moment(state.starts[-1].until or "") if state.starts else None
    if deadline is None and state.starts:
        minutes -= slept_seconds(state, state.starts[-1].ts) / 60
    spent = state.spent
    used = (
        ("tokens", "TILTH_MAX_TOKENS", float(spent.usage.counted)),
        ("cost", "TILTH_MAX_COST_USD", spent.cost_usd),
        ("time", "TILTH_MAX_WALL_CLOCK_MINUTES", max(0.0, minutes)),
    )
    return tuple(
        Cap(name=name, setting=setting, used=amount, limit=read_number(limits[setting]))
        if name != "time" or deadline is None or began is None
        else Cap(name=name, setting="--until", used=amount, limit=_minutes(deadline - began))
        for name, setting, amount in used
    )


def _minutes(span: timedelta) -> float:
    return span.total_seconds() / 60


def _allowance(limits: Mapping[str, str]) -> Allowance | None:
    budget = read_number(limits["TILTH_MAX_ITERATIONS_PER_TASK"])
    bonus = read_number(limits["TILTH_ITERATION_BONUS_PER_REJECTION"])
    if budget is None or bonus is None:
        return None
    return Allowance(budget=int(budget), bonus=int(bonus))

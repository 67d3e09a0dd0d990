"""The standing: everything there is to know about one session, gathered from its files.

The log is read whole, line by line: it is the truth, and what is wrong with it comes to light.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ConfigDict, ValidationError

from tilth.budget import Allowance
from tilth.cli.looking.glance import Glance, glance
from tilth.cli.looking.moments import read_moment
from tilth.configuration.variables import BY_NAME
from tilth.errors import CorruptSession
from tilth.prd import Plan, Status
from tilth.requests import OperatorRequest, still_open
from tilth.session import Session, SessionStatus
from tilth.settings import Settings
from tilth.summary import Summary, Tally
from tilth.values import Value, describe_faults

ValueT = TypeVar("ValueT", bound=Value)


class _Start(Value):
    """Read the settings a session set out with."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    settings: Mapping[str, str] = {}


class LastStop(Value):
    """Say why a session stopped last."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    reason: str
    detail: str = ""
    exit_code: int | None = None


class Cap(Value):
    """Hold one limit of a session and what is used of it."""

    name: str
    setting: str
    used: float
    limit: float | None


@dataclass
class _Log:
    """Hold what one pass over the log found."""

    tally: Tally = field(default_factory=Tally)
    settings: Mapping[str, str] = field(default_factory=dict)
    started: str = ""
    last_ts: str = ""
    stop: LastStop | None = None

    def read(self, line: Mapping[str, Any]) -> None:
        self.tally.read(line)
        self.last_ts = str(line.get("ts", ""))
        kind = line.get("type")
        if kind in ("session_start", "session_resume"):
            self.started = self.last_ts
            # A resume may say with what settings it goes on; a start always does.
            self.settings = _read(_Start, line).settings or self.settings
        elif kind == "stop":
            self.stop = _read(LastStop, line)


@dataclass(frozen=True)
class Standing:
    """Hold one session as it stands now."""

    session: Session
    seen: Glance
    plan: Plan
    summary: Summary
    stop: LastStop | None
    caps: tuple[Cap, ...]
    allowance: Allowance | None
    open_requests: tuple[OperatorRequest, ...]
    flags: tuple[OperatorRequest, ...]


def stand(session: Session, settings: Settings, now: datetime) -> Standing:
    """Gather what one session's files say."""
    checkpoint = session.checkpoint
    seen = glance(session.directory)
    if seen.fault:
        raise CorruptSession(seen.fault)
    log = _Log()
    for line in _events(session):
        log.read(line)
    requests = session.requests()
    limits = _limits(log.settings, settings)
    running = checkpoint.status is SessionStatus.RUNNING and seen.status == checkpoint.status
    return Standing(
        session=session,
        seen=seen,
        plan=_plan(session),
        summary=log.tally.summary(),
        stop=log.stop,
        caps=_caps(log, limits, now if running else None),
        allowance=_allowance(limits),
        open_requests=still_open(requests, _done(session)),
        flags=tuple(line for line in requests if line.kind == "below_bar"),
    )


def _events(session: Session) -> Iterator[dict[str, Any]]:
    if not session.log_path.exists():
        raise CorruptSession(f"{session.log_path}: the file is missing")
    return session.events()


def _done(session: Session) -> frozenset[str]:
    return frozenset(task.id for task in _plan(session).with_status(Status.DONE))


def _plan(session: Session) -> Plan:
    # An interview has no plan until its seed holds, and one that failed never gets one.
    planless = session.checkpoint.status in (SessionStatus.INTERVIEWING, SessionStatus.FAILED)
    if planless and not (session.directory / "prd.json").exists():
        return Plan.model_construct(tasks=())
    return session.plan


def _read(model: type[ValueT], line: Mapping[str, Any]) -> ValueT:
    try:
        return model.model_validate(line.get("payload"))
    except ValidationError as error:
        what = f"event {line.get('seq')} ({line.get('type')})"
        raise CorruptSession(
            f"events.jsonl cannot be trusted: {what}: {describe_faults(error)}"
        ) from None


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


def _caps(log: _Log, limits: Mapping[str, str], until: datetime | None) -> tuple[Cap, ...]:
    whole = log.tally.whole
    began = read_moment(log.started)
    ended = until or read_moment(log.last_ts)
    minutes = (ended - began).total_seconds() / 60 if began and ended else 0.0
    used = (
        ("tokens", "TILTH_MAX_TOKENS", float(whole.tokens)),
        ("cost", "TILTH_MAX_COST_USD", whole.cost_usd),
        ("time", "TILTH_MAX_WALL_CLOCK_MINUTES", max(0.0, minutes)),
    )
    return tuple(
        Cap(name=name, setting=setting, used=amount, limit=_number(limits[setting]))
        for name, setting, amount in used
    )


def _allowance(limits: Mapping[str, str]) -> Allowance | None:
    budget = _number(limits["TILTH_MAX_ITERATIONS_PER_TASK"])
    bonus = _number(limits["TILTH_ITERATION_BONUS_PER_REJECTION"])
    if budget is None or bonus is None:
        return None
    return Allowance(budget=int(budget), bonus=int(bonus))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None

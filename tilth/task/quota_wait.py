"""Quota waits: a limit whose reset time the endpoint names is slept out, for every role alike.

No connection is held, no iteration is spent, and a wish to stop is heard. What is too long to wait
for ends the run at once, and it can be resumed.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from tilth.base.clock import Clock, here, stamp
from tilth.base.errors import CapReached, ProviderError, QuotaReached
from tilth.base.interrupt import Interrupt
from tilth.config.settings import Settings
from tilth.contract.outcomes import StopReason
from tilth.log.events import Emit, QuotaWait
from tilth.model.messages import Model, Role
from tilth.task.night import Night


class Sleeper(Protocol):
    """Be what a wait is charged to."""

    @property
    def settings(self) -> Settings: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def interrupt(self) -> Interrupt: ...

    @property
    def night(self) -> Night: ...


def wait_for_quota(
    account: Sleeper,
    model: Model,
    role: Role,
    reached: QuotaReached,
    emit: Emit,
    slept_s: float = 0.0,
) -> float:
    """Sleep a limit out, or raise what ends the run; gives how long this call has waited in all.

    Waits of one call are added up: an endpoint that names a short wait for ever is no better than
    one that names a long one.
    """
    _check_limit(account, reached, slept_s)
    until = account.clock.now() + timedelta(seconds=reached.wait_s)
    _check_deadline(account, reached.problem, until)
    emit(
        QuotaWait(
            role=role,
            model=model.name,
            endpoint=model.endpoint,
            error=reached.problem,
            wait_s=round(reached.wait_s, 3),
            until=stamp(until),
        )
    )
    _sleep_until(account, until)
    return slept_s + reached.wait_s


def go_on_waiting(account: Sleeper, model: Model, emit: Emit) -> float:
    """Sleep what is left of a wait that an earlier start began at this endpoint; gives how long."""
    wait = account.night.pending
    if wait is None or (wait.model, wait.endpoint) != (model.name, model.endpoint):
        return 0.0
    account.night.pending = None
    until = datetime.fromisoformat(wait.until)
    left_s = (until - account.clock.now()).total_seconds()
    if left_s <= 0:
        return 0.0
    _check_limit(account, QuotaReached(wait.error, _RESUME, left_s), 0.0)
    _check_deadline(account, wait.error, until)
    emit(wait.model_copy(update={"wait_s": round(left_s, 3), "resumed": True}))
    _sleep_until(account, until)
    return left_s


_RESUME = "continue with `tilth resume` after that"


def _check_limit(account: Sleeper, reached: QuotaReached, slept_s: float) -> None:
    minutes = account.settings.wait_for_quota_minutes
    if slept_s + reached.wait_s > minutes * 60:
        limit = f"longer than TILTH_WAIT_FOR_QUOTA_MINUTES allows ({minutes:g})"
        raise ProviderError(f"{reached.problem}, {limit}", _RESUME)


def _check_deadline(account: Sleeper, problem: str, until: datetime) -> None:
    deadline = account.night.deadline
    if deadline is not None and until >= deadline:
        by = f"past the time given by --until ({here(deadline):%Y-%m-%d %H:%M})"
        raise CapReached(StopReason.WALL_CLOCK, f"{problem}, {by}; {_RESUME}")


def _sleep_until(account: Sleeper, until: datetime) -> None:
    """Sleep by the clock on the wall, which goes on while a machine is suspended.

    A clock that is put back does not prolong the wait.
    """
    clock, interrupt = account.clock, account.interrupt
    latest = clock.monotonic() + (until - clock.now()).total_seconds()
    with account.night.asleep(clock):
        while (left := _left(clock, until, latest)) > 0:
            interrupt.nap(left)


def _left(clock: Clock, until: datetime, latest: float) -> float:
    return min((until - clock.now()).total_seconds(), latest - clock.monotonic())

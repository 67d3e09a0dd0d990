"""The night's events: what a run is likely to reach, and what it sleeps out."""

from __future__ import annotations

from typing import ClassVar, Literal

from tilth.log.envelope import Payload
from tilth.model.messages import Role
from tilth.task.forecast import Span


class QuotaWait(Payload):
    """Tell that a used-up limit is slept out; `until` is when the endpoint says it answers again.

    `resumed` marks the rest of a wait that an earlier start began.
    """

    # A resume goes on sleeping by it.
    synced: ClassVar[bool] = True
    sparse: ClassVar[tuple[str, ...]] = ("resumed",)
    type: Literal["quota_wait"] = "quota_wait"
    role: Role
    model: str
    endpoint: str
    error: str
    wait_s: float
    until: str
    resumed: bool = False


class Forecasted(Payload):
    """Say how far a run will likely get by `by`; with a `basis` of 0 nothing is known yet.

    `cap` says that `by` is the end of the wall-clock cap and no deadline of the user's.
    """

    type: Literal["forecast"] = "forecast"
    by: str | None
    cap: bool = False
    basis: int
    remaining: int
    seconds_left: float | None = None
    task_seconds: Span | None = None
    seconds: Span | None = None
    cost_usd: Span | None = None
    done: Span | None = None
    chance: bool = True

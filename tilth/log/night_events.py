"""The night's events: what it is likely to reach, what it sleeps out, what its rest buys."""

from __future__ import annotations

from typing import ClassVar, Literal

from tilth.contract.verdict import Decision, Proof, RejectionCategory
from tilth.log.envelope import Payload
from tilth.model.messages import Role
from tilth.task.forecast import Range


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
    task_seconds: Range | None = None
    seconds: Range | None = None
    cost_usd: Range | None = None
    done: Range | None = None
    chance: bool = True


class SecondOpinion(Payload):
    """Hold what another reviewer says of a done task; nothing follows from it.

    `first` is what the evaluator had said of the same tree. Without a `verdict` the answer could
    not be read, and then nobody knows whether the two agree.
    """

    # Nobody is asked twice about one tree.
    synced: ClassVar[bool] = True
    type: Literal["second_opinion"] = "second_opinion"
    reviewer: str
    model: str
    tree: str
    first: Decision
    verdict: Decision | None
    agrees: bool | None
    rejection_category: RejectionCategory | None = None
    concern: str = ""
    evidence: tuple[str, ...] = ()
    next_step: str | None = None
    score: int | None = None
    below_threshold: bool = False
    probe: str | None = None
    proof: Proof | None = None

"""A sample of each of the night's events."""

from __future__ import annotations

from tilth.contract.verdict import Decision, RejectionCategory
from tilth.log.events import CacheWarning, Forecasted, Payload, QuotaWait, SecondOpinion
from tilth.model.caching import Place
from tilth.model.messages import Role
from tilth.task.forecast import Range

SHA = "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"
NIGHT_SAMPLES: tuple[Payload, ...] = (
    CacheWarning(
        conversation="c1",
        role=Role.WORKER,
        model="claude-sonnet-5-5",
        expected_tokens=52_000,
        read_tokens=0,
        differs=Place(message=3, block=0, kind="tool_result", name="bash"),
    ),
    QuotaWait(
        role=Role.WORKER,
        model="claude-sonnet-5-5",
        endpoint="https://api.anthropic.com",
        error="HTTP 429: the limit is reached; it asks for a wait of 4.0 hours",
        wait_s=14400.0,
        until="2026-11-17T03:00:00.000Z",
    ),
    Forecasted(
        by="2026-11-17T06:00:00.000Z",
        basis=7,
        remaining=5,
        seconds_left=25200.0,
        task_seconds=Range(low=600, high=3600),
        seconds=Range(low=3000, high=18000),
        cost_usd=Range(low=1.5, high=4),
        done=Range(low=4, high=5),
    ),
    SecondOpinion(
        reviewer="strict",
        model="claude-opus-5-5",
        tree=SHA,
        first=Decision.ACCEPT,
        verdict=Decision.REJECT,
        agrees=False,
        rejection_category=RejectionCategory.ACCEPTANCE_GAP,
        concern="Zero is not handled.",
        evidence=("tz.py:to_utc",),
        next_step="Handle zero.",
        score=40,
    ),
)

"""The timeline: who worked when, merged as far as a page can tell apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from support.event_samples import SESSION

from tilth.log.events import (
    Event,
    ModelCall,
    ModelRetry,
    MutantsTried,
    Payload,
    QuotaWait,
    Scope,
    Unknown,
    ValidatorRun,
)
from tilth.log.state import SessionState, apply
from tilth.model.messages import Role, Usage
from tilth.show.viewer.timeline import Timeline

START = datetime(2026, 11, 16, 22, 0, tzinfo=UTC)
ZERO = round(START.timestamp() * 1000)


class Night:
    """Tell a timeline what happened, second by second."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.state = SessionState()

    def at(self, second: int, payload: Payload, task: str = "T-001") -> None:
        ts = (START + timedelta(seconds=second)).isoformat(timespec="milliseconds")
        event = Event(self.state.last_seq + 1, ts, SESSION, Scope(task, 1), payload)
        self.state = apply(self.state, event)
        self.timeline.take(event, self.state)

    def spans(self, row: int = 0) -> list[tuple[str, float, float]]:
        told = self.timeline.rows()[row]["spans"]
        return [(kind, (a - ZERO) / 1000, (b - ZERO) / 1000) for kind, a, b in told]


def call(role: Role = Role.WORKER, seconds: int = 2, cost: float | None = 0.5) -> ModelCall:
    return ModelCall(
        conversation="c",
        role=role,
        request_sha256="",
        content=(),
        stop_reason=None,
        usage=Usage(input_tokens=10, output_tokens=5),
        model="m",
        latency_ms=seconds * 1000,
        cost_usd=cost,
    )


def gate(seconds: int) -> ValidatorRun:
    return ValidatorRun(
        name="pytest",
        phase="case",
        passed=True,
        exit_code=0,
        output="",
        duration_ms=seconds * 1000,
        tree="t",
    )


def test_each_actor_has_spans_of_its_own() -> None:
    night = Night()
    night.at(2, call())
    night.at(5, gate(3))
    night.at(9, call(Role.EVALUATOR, 4))
    retry = ModelRetry(conversation="c", role=Role.WORKER, attempt=1, error="529", delay_s=30)
    night.at(9, retry)
    assert night.spans() == [
        ("worker", 0, 2),
        ("gate", 2, 5),
        ("evaluator", 5, 9),
        ("waiting", 9, 39),
    ]


def test_spans_that_nearly_touch_are_one_and_hours_stay_few() -> None:
    night = Night()
    for minute in range(8 * 60):
        night.at(minute * 60, call(seconds=59))
    assert len(night.spans()) == 1
    far = Night()
    for minute in range(0, 8 * 60, 10):
        far.at(minute * 60, call())
    assert len(far.spans()) == 48


def test_evidence_is_time_of_the_gate_and_a_used_up_quota_is_waiting() -> None:
    night = Night()
    tried = MutantsTried(tree="t", tried=1, killed=1, not_run=0, survived=(), duration_ms=2000)
    night.at(5, tried)
    wait = QuotaWait(
        role=Role.WORKER, model="m", endpoint="e", error="429", wait_s=60, until="2026-11-16"
    )
    night.at(6, wait)
    night.at(7, Unknown(type="mutants", content={"duration_ms": "long"}))
    assert night.spans() == [("gate", 3, 5), ("waiting", 6, 66)]


def test_spend_grows_to_what_the_state_says_whatever_task_spends_it() -> None:
    night = Night()
    for number in range(2000):
        night.at(number, call(), f"T-{number // 500:03d}")
    spend = night.timeline.spend(night.state)
    values = [value for _, value in spend["points"]]
    assert spend["in_dollars"]
    assert values == sorted(values)
    assert values[-1] == night.state.spent.cost_usd == 1000
    assert len(values) <= 302


def test_without_a_price_spend_is_told_in_tokens() -> None:
    night = Night()
    night.at(1, call(cost=0.5))
    night.at(2, call(cost=None))
    spend = night.timeline.spend(night.state)
    assert not spend["in_dollars"]
    assert spend["points"][-1][1] == 30

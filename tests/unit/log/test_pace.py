"""The pace: how long tasks were worked on, without the time in which nobody did."""

from __future__ import annotations

from support.event_samples import SAMPLES, SESSION, session_start

from tilth.log.events import Event, Payload, QuotaWait, Scope
from tilth.log.pace import busy_seconds, paces
from tilth.log.state import SessionState, fold


def state_of(*happened: tuple[str, str | None, Payload]) -> SessionState:
    return fold(
        Event(number, f"2026-11-16T{at}:00.000Z", SESSION, Scope(task_id), payload)
        for number, (at, task_id, payload) in enumerate(happened, start=1)
    )


def wait(until: str) -> Payload:
    sample = SAMPLES["quota_wait"]
    assert isinstance(sample, QuotaWait)
    return sample.model_copy(update={"until": f"2026-11-16T{until}:00.000Z"})


T1 = "T-001"
RESET, CALL, DONE = SAMPLES["context_reset"], SAMPLES["model_call"], SAMPLES["task_done"]


def test_a_done_task_took_the_time_from_its_start_to_its_end() -> None:
    state = state_of(
        ("20:00", None, session_start()),
        ("20:01", T1, RESET),
        ("20:05", T1, CALL),
        ("20:11", T1, DONE),
    )
    assert [past.seconds for past in paces(state)] == [600]
    assert [past.iterations for past in paces(state)] == [1]


def test_time_asleep_and_between_two_starts_is_left_out_once() -> None:
    state = state_of(
        ("20:00", None, session_start()),
        ("20:01", T1, RESET),
        ("20:02", T1, wait("21:02")),
        ("20:32", None, SAMPLES["stop"]),
        ("20:52", None, SAMPLES["session_resume"]),
        ("20:53", T1, wait("21:02")),
        ("21:05", T1, CALL),
        ("21:06", T1, DONE),
    )
    assert busy_seconds(state, state.tasks[T1]) == 5 * 60


def test_a_task_under_way_has_no_pace_yet() -> None:
    state = state_of(("20:00", None, session_start()), ("20:01", T1, RESET), ("20:05", T1, CALL))
    assert busy_seconds(state, state.tasks[T1]) is None
    assert paces(state) == ()


def test_a_wait_is_open_until_somebody_was_answered() -> None:
    waiting = state_of(("20:00", None, session_start()), ("20:01", T1, wait("21:02")))
    assert waiting.waiting is not None
    answered = state_of(("20:01", T1, wait("21:02")), ("21:03", T1, CALL))
    assert answered.waiting is None
    assert len(answered.waits) == 1

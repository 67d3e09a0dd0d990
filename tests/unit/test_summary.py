from __future__ import annotations

import json
from typing import Any

import pytest
from event_samples import (
    SAMPLES,
    SESSION,
    SHA,
    Tape,
    a_session,
    case,
    evaluator_call,
    model_call,
    rejection,
    session_start,
    stop,
    tool_result,
    validator,
    verdict,
)

from tilth.errors import CorruptSession
from tilth.events import EVENT_TYPES
from tilth.messages import Usage
from tilth.outcomes import StopReason
from tilth.payloads import Payload, SessionResume, TaskDone
from tilth.summary import Summary, Tally, fold


def lines(*payloads: Payload, task_id: str | None = "T-001") -> list[dict[str, Any]]:
    tape = Tape()
    return [tape.event(payload, task_id).to_line() for payload in payloads]


def test_events_and_their_lines_add_up_to_the_same() -> None:
    tally = Tally()
    for event in a_session():
        tally.take(event)
    written = [json.loads(json.dumps(event.to_line())) for event in a_session()]
    assert tally.summary().to_json() == fold(written).to_json()


def test_what_was_given_out_does_not_change_with_what_comes_after() -> None:
    tally = Tally()
    given = []
    for event in a_session():
        tally.take(event)
        given.append((tally.summary(), tally.summary().to_json()))

    assert all(value.to_json() == written for value, written in given)
    assert len({value.events for value, _ in given}) == len(given)


def test_what_nobody_changed_is_given_again() -> None:
    tally = Tally()
    for event in a_session():
        tally.take(event)

    assert tally.whole is tally.whole
    assert tally.task("T-001") is tally.task("T-001")


def test_a_session_is_rolled_up_whole() -> None:
    summary = fold(event.to_line() for event in a_session())
    assert (summary.session, summary.branch) == (SESSION, f"session/{SESSION}")
    assert (summary.last_stop, summary.exit_code) == ("iter_cap", 1)
    assert summary.started == "2026-11-16T22:15:01.000Z"
    assert summary.ended == summary.updated is not None
    assert summary.iterations == 7
    assert summary.retries == 1
    assert [note.cap for note in summary.caps] == ["cost_cap"]
    assert summary.verdicts == {"acceptance_gap": 1, "accept": 1}


def test_a_task_is_rolled_up_whole() -> None:
    task = fold(event.to_line() for event in a_session()).tasks["T-001"]
    assert (task.outcome, task.commit, task.score, task.evaluated) == ("done", SHA, 91, True)
    assert (task.attempts, task.iterations, task.model_calls) == (1, 6, 8)
    assert task.tools == {"bash": 1}
    assert task.tool_failures == 1
    assert task.validators["pytest"].model_dump() == {"passed": 2, "failed": 1}
    assert [(note.verdict, note.category, note.score) for note in task.history] == [
        ("reject", "acceptance_gap", 55),
        ("accept", None, 91),
    ]
    assert task.uncertainties == ()


def test_a_failed_task_keeps_its_reason_and_its_flags() -> None:
    task = fold(event.to_line() for event in a_session()).tasks["T-002"]
    assert (task.outcome, task.reason) == ("failed", "iter_cap")
    assert task.tampered == ("conftest.py",)
    assert task.already_green
    assert task.nudges == 1


def test_only_worker_calls_are_iterations() -> None:
    summary = fold(lines(model_call(), evaluator_call(), SAMPLES["model_retry"], model_call()))
    assert summary.iterations == summary.tasks["T-001"].iterations == 2
    assert summary.model_calls == 3


def test_usage_and_cost_are_kept_by_role() -> None:
    usage = Usage(input_tokens=10, output_tokens=5, cache_read_tokens=100, cache_write_tokens=1)
    summary = fold(lines(model_call(usage=usage, cost_usd=0.1), evaluator_call(cost_usd=0.2)))
    worker = summary.by_role["worker"]
    assert (worker.tokens, worker.usage.cache_read_tokens, worker.cost_usd) == (16, 100, 0.1)
    assert summary.by_role["evaluator"].cost_usd == 0.2
    assert summary.cost_usd == 0.3
    assert summary.tokens == 16 + 4500


def test_a_call_without_a_price_is_counted_and_never_free() -> None:
    payloads = (model_call(cost_usd=0.5), model_call(cost_usd=None), model_call(cost_usd=None))
    summary = fold(lines(*payloads))
    assert (summary.cost_usd, summary.cost_unknown_calls) == (0.5, 2)
    assert not summary.cost_known
    assert summary.unknown_prices == ("worker-model",)
    assert summary.tasks["T-001"].cost_unknown_calls == 2


def test_a_fresh_conversation_is_a_new_attempt_with_counts_of_its_own() -> None:
    reset = SAMPLES["context_reset"]
    summary = fold(lines(reset, model_call(), rejection(), reset, model_call()))
    task = summary.tasks["T-001"]
    assert (task.attempts, task.iterations, task.attempt_iterations) == (2, 2, 1)
    assert task.attempt_rejections == 0


def test_a_reject_of_the_harness_earns_nothing_unless_the_verdict_was_unreadable() -> None:
    mechanical = rejection(source="harness", score=None)
    unreadable = rejection(source="harness", parse_failed=True, score=None)
    task = fold(lines(mechanical, unreadable, rejection())).tasks["T-001"]
    assert task.attempt_rejections == 2
    assert [note.source for note in task.history] == ["harness", "harness", "evaluator"]


def test_a_resume_reopens_what_failed() -> None:
    failed, resume = SAMPLES["task_failed"], SAMPLES["session_resume"]
    before = fold(lines(failed, stop(StopReason.ITER_CAP, 1), task_id="T-002"))
    assert before.tasks["T-002"].outcome == "failed"
    after = fold(lines(failed, stop(StopReason.ITER_CAP, 1), resume, task_id="T-002"))
    assert (after.tasks["T-002"].outcome, after.tasks["T-002"].reason) == ("open", None)
    assert (after.ended, after.last_stop) == (None, "iter_cap")


def test_starts_are_counted_over_resumes() -> None:
    resume = SessionResume(last_stop=None, retried=(), pending=(), unwound_commit=None)
    assert fold(lines(session_start(), resume, resume, task_id=None)).starts == 3


def test_a_forced_accept_and_an_unseen_one_are_told_apart_from_a_clean_one() -> None:
    unseen = TaskDone(commit=SHA, score=None, iterations=1, evaluated=False)
    forced = fold(lines(SAMPLES["task_force_accepted"], SAMPLES["task_done"])).tasks["T-001"]
    assert (forced.outcome, forced.force_accepted) == ("done", True)
    assert fold(lines(unseen)).tasks["T-001"].evaluated is False
    clean = fold(lines(SAMPLES["task_done"])).tasks["T-001"]
    assert (clean.force_accepted, clean.evaluated) == (False, True)


def test_the_last_case_is_the_one_whose_doubts_are_kept() -> None:
    summary = fold(lines(case(uncertainties=("old",)), case(work_arounds=("new",))))
    task = summary.tasks["T-001"]
    assert (task.uncertainties, task.work_arounds) == ((), ("new",))


def test_a_validator_run_on_the_base_is_no_gate() -> None:
    assert fold(lines(validator(phase="base", passed=False))).tasks["T-001"].validators == {}


def test_a_command_that_fails_counts_as_a_failure_once() -> None:
    results = (tool_result("bash", exit_code=0), tool_result("bash", exit_code=2, is_error=True))
    assert fold(lines(*results)).tasks["T-001"].tool_failures == 1


def test_what_it_does_not_know_is_ignored() -> None:
    known = lines(model_call())
    known[0]["payload"]["usage"]["quantum_tokens"] = 5
    known[0]["payload"]["later"] = {"a": 1}
    known[0]["colour"] = "green"
    future = {**known[0], "seq": 2, "type": "telepathy", "payload": ["anything"]}
    summary = fold([*known, future])
    assert (summary.events, summary.model_calls) == (2, 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [("usage", {"input_tokens": "many"}), ("cost_usd", "dear"), ("cost_usd", -1), ("role", None)],
)
def test_a_field_that_is_no_such_value_is_an_error_that_names_it(field: str, value: Any) -> None:
    line = lines(model_call())[0]
    line["payload"][field] = value
    with pytest.raises(CorruptSession, match=rf"event 1 \(model_call\): {field}"):
        fold([line])


def test_a_line_without_its_envelope_is_an_error() -> None:
    with pytest.raises(CorruptSession, match="ts: Field required"):
        fold([{"seq": 1, "type": "stop"}])


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_kind_of_event_is_counted(kind: str) -> None:
    tally = Tally()
    tally.take(Tape().event(SAMPLES[kind]))
    assert tally.summary().events == 1


def test_a_summary_survives_its_own_json() -> None:
    summary = fold(event.to_line() for event in a_session())
    text = json.dumps(summary.to_json())
    assert Summary.model_validate_json(text) == summary


def test_an_empty_log_has_an_empty_summary() -> None:
    assert fold([]) == Summary()


def test_long_concerns_are_kept_short() -> None:
    task = fold(lines(verdict(concern="x" * 10_000))).tasks["T-001"]
    assert len(task.history[0].concern) <= 200

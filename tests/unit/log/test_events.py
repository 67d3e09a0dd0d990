"""The events: the closed set of what can happen, and how a line is read."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.event_samples import SAMPLES, SESSION, verdict

from tilth.contract.outcomes import FailReason, StopReason
from tilth.contract.verdict import LedgerEntry
from tilth.log.events import (
    EVENT_CLASSES,
    EVENT_TYPES,
    EvaluatorVerdict,
    Event,
    Payload,
    Scope,
    TaskFailed,
    Unknown,
)
from tilth.log.reader import parse_event

CONTRACT = """
session_start session_prepared seed_committed session_resume context_reset prompt_assembled
carried memory_load model_call model_retry nudge tool_call tool_result pre_tool_block hook_run
validator_run seed_tampered gate_steered seed_already_green case_parse_error case_submitted
evaluator_verdict evaluator_parse_error ledger_appended context_trimmed stagnation blocker_raised
operator_request operator_word commit task_done task_force_accepted task_failed proposed_learnings
cap_warning cache_warning evaluator_tool probe_run probe_failed challenge mutants landing_refused
quota_wait forecast second_opinion notified taken stop preflight
"""


def line(payload: Payload) -> dict[str, Any]:
    return Event(1, "2026-11-16T22:15:30.000Z", SESSION, Scope("T-001"), payload).to_line()


def test_the_types_are_those_of_the_contract() -> None:
    assert sorted(EVENT_TYPES) == sorted(CONTRACT.split())


def test_what_changes_a_resume_is_synced() -> None:
    synced = {name for name, kind in EVENT_CLASSES.items() if kind.synced}
    assert {"model_call", "evaluator_verdict", "commit", "task_done", "stop"} <= synced
    assert not {"tool_call", "nudge", "hook_run"} & synced


@pytest.mark.parametrize("name", EVENT_TYPES)
def test_every_type_is_read_back_as_it_was_written(name: str) -> None:
    written = line(SAMPLES[name])
    assert written["type"] == name
    assert "type" not in written["payload"]
    read = parse_event(written)
    assert read.payload == SAMPLES[name]
    assert read.to_line() == written


@pytest.mark.parametrize("name", EVENT_TYPES)
def test_fields_of_a_payload_that_nobody_knows_are_kept(name: str) -> None:
    written = line(SAMPLES[name])
    written["payload"]["from_the_future"] = {"x": 1}
    assert parse_event(written).to_line() == written


def test_a_verdict_event_gives_its_ledger_entry_back() -> None:
    event = verdict(from_the_future=1)
    assert isinstance(event, EvaluatorVerdict)
    assert type(event.entry) is LedgerEntry
    assert {**dict(event.entry), "call_id": "c9"}.items() <= dict(event).items()


@pytest.mark.parametrize("reason", list(FailReason))
def test_a_task_fails_only_for_a_reason_of_the_contract(reason: FailReason) -> None:
    assert TaskFailed(reason=reason, detail="", iterations=1).reason is reason
    ended = {"iter_cap", "evaluator_cap", "no_case", "no_progress", "blocked", "dropped"}
    assert set(FailReason) == ended


def test_a_run_stops_only_for_a_reason_of_the_contract() -> None:
    assert list(StopReason) == [
        "all_done",
        "iter_cap",
        "evaluator_cap",
        "no_case",
        "no_progress",
        "blocked",
        "dropped",
        "wall_clock",
        "token_cap",
        "cost_cap",
        "provider_failure",
        "interrupted",
        "error",
    ]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"payload": {}}, ValidationError),
        ({"payload": {"reason": "tired", "exit_code": 0, "detail": ""}}, ValidationError),
    ],
)
def test_a_foreign_shape_is_refused(change: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_event(line(SAMPLES["stop"]) | change)


def test_a_line_without_a_field_is_refused_by_name() -> None:
    written = line(SAMPLES["stop"])
    del written["ts"]
    with pytest.raises(KeyError, match="ts"):
        parse_event(written)


def test_a_payload_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        SAMPLES["stop"].detail = "else"  # type: ignore[attr-defined]  # what the test is about


def test_a_type_nobody_knows_is_kept_with_all_it_says() -> None:
    written = line(SAMPLES["stop"]) | {"type": "unheard_of", "payload": ["any", {"thing": 1}]}
    read = parse_event(written)
    assert isinstance(read.payload, Unknown)
    assert read.to_line() == written

"""The summary: what `summary.json` promises to hold."""

from __future__ import annotations

import json
from typing import Any

from support.event_samples import (
    SAMPLES,
    SESSION,
    SHA,
    Tape,
    a_session,
    case,
    tool_result,
    validator,
    verdict,
)

from tilth.log.events import Payload
from tilth.log.state import SessionState, fold
from tilth.log.summary import summary


def task_of(*payloads: Payload) -> dict[str, Any]:
    tape = Tape()
    return summary(fold(tape.event(payload) for payload in payloads))["tasks"]["T-001"]


def test_a_session_is_rolled_up_whole() -> None:
    whole = summary(fold(a_session()))
    assert (whole["session"], whole["branch"]) == (SESSION, f"session/{SESSION}")
    assert (whole["last_stop"], whole["exit_code"]) == ("iter_cap", 1)
    assert whole["started"] == "2026-11-16T22:15:01.000Z"
    assert whole["ended"] == whole["updated"] is not None
    assert (whole["iterations"], whole["retries"], whole["starts"]) == (7, 1, 1)
    assert [note["cap"] for note in whole["caps"]] == ["cost_cap"]
    assert whole["verdicts"] == {"acceptance_gap": 1, "accept": 1}
    assert whole["tools"] == {"bash": 1}
    assert whole["by_role"]["evaluator"]["model_calls"] == 2
    assert whole["cost_usd"] == 0.18


def test_a_task_is_rolled_up_whole() -> None:
    task = summary(fold(a_session()))["tasks"]["T-001"]
    assert (task["outcome"], task["commit"], task["score"]) == ("done", SHA, 91)
    assert (task["attempts"], task["iterations"], task["model_calls"]) == (1, 6, 8)
    assert (task["evaluated"], task["force_accepted"]) == (True, False)
    assert task["tool_failures"] == 1
    assert task["validators"]["pytest"] == {"passed": 2, "failed": 1}
    assert [(note["verdict"], note["category"], note["score"]) for note in task["history"]] == [
        ("reject", "acceptance_gap", 55),
        ("accept", None, 91),
    ]


def test_a_failed_task_keeps_its_reason_and_its_flags() -> None:
    task = summary(fold(a_session()))["tasks"]["T-002"]
    assert (task["outcome"], task["reason"]) == ("failed", "iter_cap")
    assert task["tampered"] == ["conftest.py"]
    assert task["already_green"]
    assert task["nudges"] == 1


def test_the_last_case_is_the_one_whose_doubts_are_kept() -> None:
    task = task_of(case(uncertainties=("old",)), case(work_arounds=("new",)))
    assert (task["uncertainties"], task["work_arounds"]) == ([], ["new"])


def test_a_validator_run_on_the_base_is_no_gate() -> None:
    assert task_of(validator(phase="base", passed=False))["validators"] == {}


def test_a_command_that_fails_counts_as_a_failure_once() -> None:
    results = (tool_result("bash", exit_code=0), tool_result("bash", exit_code=2, is_error=True))
    assert task_of(*results)["tool_failures"] == 1


def test_a_commit_is_named_by_whoever_said_it_last() -> None:
    assert task_of(SAMPLES["commit"])["commit"] == SHA
    done = SAMPLES["task_done"].model_copy(update={"commit": "d" * 40})
    assert task_of(SAMPLES["commit"], done)["commit"] == "d" * 40


def test_a_summary_is_plain_json_and_the_same_for_an_empty_log() -> None:
    whole = summary(fold(a_session()))
    assert json.loads(json.dumps(whole)) == whole
    assert list(summary(SessionState())) == list(whole)


def test_long_concerns_are_kept_short() -> None:
    task = task_of(verdict(concern="x" * 10_000))
    assert len(task["history"][0]["concern"]) <= 200

"""The last screen of a run."""

from __future__ import annotations

import io
from typing import Any

import pytest
from support.event_samples import (
    SAMPLES,
    SESSION,
    Tape,
    case,
    context,
    model_call,
    plan,
    rejection,
    session_start,
    stop,
)

from tilth.contract.outcomes import StopReason
from tilth.contract.prd import Plan, Status
from tilth.log.events import Payload
from tilth.show.live import Console


def closing(last: Payload, *before: Payload, task_id: str | None = "T-001", **changes: Any) -> str:
    """Give what is shown at the stop alone."""
    stream, tape = io.StringIO(), Tape()
    with Console(stream, context(**changes), live=False) as console:
        for payload in before:
            console.take(tape.event(payload, task_id))
        told = len(stream.getvalue())
        console.take(tape.event(last, None))
    return stream.getvalue()[told:]


def commands(told: str) -> list[str]:
    """Give the commands of the closing, in their order."""
    lines = told.splitlines()
    first = next(n for n, line in enumerate(lines) if " next " in line)
    return [line.split(" next ")[-1].strip() for line in lines[first:]]


def with_status(*states: Status) -> Plan:
    tasks = zip(plan().tasks, states, strict=True)
    return Plan(tasks=tuple(task.model_copy(update={"status": state}) for task, state in tasks))


LOG = f"git -C '~/code/words' log 1a2b3c4d5e6f..session/{SESSION}"
TAKE = f"tilth take {SESSION}"
RESUME = f"tilth resume {SESSION}"

AFTER = {
    StopReason.ALL_DONE: (0, [TAKE, LOG]),
    StopReason.ITER_CAP: (1, [RESUME, TAKE, LOG]),
    StopReason.EVALUATOR_CAP: (1, [RESUME, TAKE, LOG]),
    StopReason.NO_CASE: (1, [RESUME, TAKE, LOG]),
    StopReason.NO_PROGRESS: (1, [RESUME, TAKE, LOG]),
    StopReason.BLOCKED: (6, [RESUME, TAKE, LOG]),
    StopReason.DROPPED: (1, [TAKE, LOG]),
    StopReason.WALL_CLOCK: (3, [RESUME, TAKE, LOG]),
    StopReason.TOKEN_CAP: (3, [f"raise TILTH_MAX_TOKENS, then: {RESUME}", TAKE, LOG]),
    StopReason.COST_CAP: (3, [f"raise TILTH_MAX_COST_USD, then: {RESUME}", TAKE, LOG]),
    StopReason.PROVIDER_FAILURE: (5, ["tilth doctor --online", RESUME, TAKE, LOG]),
    StopReason.INTERRUPTED: (130, [RESUME, TAKE, LOG]),
    StopReason.ERROR: (2, [RESUME, TAKE, LOG]),
}


@pytest.mark.parametrize("reason", StopReason)
def test_every_stop_says_why_and_what_to_type_next(reason: StopReason) -> None:
    code, wanted = AFTER[reason]
    done = (session_start(), model_call(), SAMPLES["task_done"])
    told = closing(stop(reason, code, "the detail"), *done)
    assert told.splitlines()[0].endswith("| the detail")
    assert commands(told) == wanted


def test_a_question_that_waits_comes_first_until_it_is_answered_or_pointless() -> None:
    ask = SAMPLES["operator_request"]
    waiting = closing(stop(StopReason.BLOCKED, 6), SAMPLES["context_reset"], ask)
    assert commands(waiting) == [f'tilth answer {SESSION} R-1 "…"', RESUME]
    answered = ask.model_copy(update={"kind": "answer"})
    assert "tilth answer" not in closing(stop(StopReason.BLOCKED, 6), ask, answered)
    done = closing(stop(StopReason.BLOCKED, 6), ask, model_call(), SAMPLES["task_done"])
    assert "tilth answer" not in done


def test_a_failed_task_is_one_to_look_at() -> None:
    failed = (SAMPLES["context_reset"], model_call(), SAMPLES["task_failed"])
    told = closing(stop(StopReason.ITER_CAP, 1), *failed)
    assert f"tilth show {SESSION} T-001" in commands(told)
    assert "tasks     1 failed, 2 not begun" in told
    assert "✗ T-001 Add slugify · failed (iter_cap) · 1 iteration · $0.02" in told


def test_below_the_bar_is_told_apart_from_done() -> None:
    forced = (model_call(), SAMPLES["task_force_accepted"], SAMPLES["task_done"])
    told = closing(stop(StopReason.ALL_DONE, 4), *forced)
    assert "all tasks are done, but not all to the bar" in told
    assert "1 accepted below the bar, 2 not begun" in told
    assert "look at   T-001: accepted below the bar, score 91" in told
    assert RESUME not in told
    assert f"tilth show {SESSION} T-001" in commands(told)


def test_a_task_that_was_stopped_midway_is_unfinished() -> None:
    told = closing(stop(StopReason.INTERRUPTED, 130), SAMPLES["context_reset"], model_call())
    assert "tasks     1 unfinished, 2 not begun" in told


def test_what_an_earlier_start_did_is_known_from_the_plan() -> None:
    before = with_status(Status.DONE, Status.FAILED, Status.PENDING)
    told = closing(stop(StopReason.INTERRUPTED, 130), plan=before)
    assert "tasks     1 done, 1 failed, 1 not begun" in told


def test_without_a_plan_the_tasks_that_were_seen_are_told() -> None:
    told = closing(stop(), model_call(), SAMPLES["task_done"], plan=None)
    assert "✓ T-001 · 1 iteration · $0.02 · score 91" in told


def test_what_to_look_at_first_comes_from_the_last_case_and_the_flags() -> None:
    doubts = case(uncertainties=("is ß right?",), work_arounds=("hard-coded the locale",))
    told = closing(
        stop(),
        model_call(),
        SAMPLES["seed_tampered"],
        doubts,
        rejection(),
        rejection(),
        SAMPLES["task_done"],
    )
    assert "T-001: gate files were tampered with: conftest.py" in told
    assert "T-001: unsure: is ß right?" in told
    assert "T-001: work-around: hard-coded the locale" in told
    assert "T-001: rejected 2 times, since settled: the last for: " in told
    assert "! T-001 Add slugify" in told
    assert "TAMPERED WITH THE GATE" in told


def test_cost_and_tokens_stand_against_their_caps() -> None:
    told = closing(stop(), model_call(cost_usd=1.5), SAMPLES["task_done"])
    assert "4.5k/2M tokens · $1.50 of $10 · $1.50 per accepted task · 1 iteration" in told


def test_a_long_plan_shows_only_what_is_not_clean() -> None:
    told = closing(
        stop(StopReason.ITER_CAP, 1),
        model_call(),
        SAMPLES["task_failed"],
        plan=plan(*(f"task {n}" for n in range(200))),
    )
    assert "1 failed, 199 not begun" in told
    assert len(told.splitlines()) < 10


def test_many_flags_are_cut_and_the_rest_is_counted() -> None:
    doubts = case(uncertainties=tuple(f"doubt {n}" for n in range(30)))
    told = closing(stop(), model_call(), doubts, SAMPLES["task_done"])
    assert "and 22 more, in report.md" in told

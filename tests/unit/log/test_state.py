"""The one fold: what each event changes about a session, a task and an attempt."""

from __future__ import annotations

import dataclasses
import gc
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from support.event_samples import (
    SAMPLES,
    SHA,
    Tape,
    a_session,
    case,
    commit,
    evaluator_call,
    model_call,
    prompt,
    rejection,
    says,
    session_start,
    stop,
    tool_result,
    uses,
    validator,
    verdict,
)
from support.folding import events, folded, reviewed, task_after

from tilth.contract.outcomes import StopReason
from tilth.log.events import (
    EVENT_TYPES,
    CaseSubmitted,
    ContextReset,
    EvaluatorVerdict,
    Event,
    SessionResume,
    TaskDone,
    Unknown,
    ValidatorRun,
)
from tilth.log.reader import parse_event
from tilth.log.state import SessionState, apply, fold
from tilth.log.task_state import ReviewState, TaskOutcome
from tilth.model.messages import Role, Usage

RESET = SAMPLES["context_reset"]


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


def test_events_and_their_lines_fold_to_the_same() -> None:
    lines = (json.loads(json.dumps(event.to_line())) for event in a_session())
    assert fold(parse_event(line) for line in lines) == fold(a_session())


def test_a_state_that_was_given_out_does_not_change_with_what_comes_after() -> None:
    state, given = SessionState(), []
    for event in a_session():
        state = apply(state, event)
        given.append((state, repr(state)))
    assert all(repr(value) == said for value, said in given)
    assert [value.events for value, _ in given] == list(range(1, len(given) + 1))
    # A log that is folded at once is written into one state; it comes to the same.
    assert repr(fold(a_session())) == given[-1][1]


def test_a_resume_that_begins_a_task_anew_leaves_the_state_before_it_alone() -> None:
    before = folded(RESET, prompt(Role.WORKER))
    anew = SessionResume(
        last_stop=None, retried=(), pending=(), unwound_commit=None, anew=("T-001",)
    )
    after = apply(before, Tape().event(anew, None))
    assert [state.tasks["T-001"].is_open for state in (before, after)] == [True, False]


def test_nobody_can_change_a_state() -> None:
    state = fold(a_session())
    for value in (state, state.tasks["T-001"], state.tasks["T-001"].attempt):
        with pytest.raises(dataclasses.FrozenInstanceError):
            value.started = "now"  # type: ignore[misc, union-attr]  # what the test is about


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_kind_of_event_is_taken_first_of_all(kind: str) -> None:
    for task_id in ("T-001", None):
        assert folded(SAMPLES[kind], task_id=task_id).events == 1


def test_a_kind_nobody_knows_only_counts_as_an_event() -> None:
    state = folded(model_call(), Unknown(type="telepathy", content=["anything"]))
    assert (state.events, state.spent.calls) == (2, 1)


def test_a_session_starts_stops_and_starts_again() -> None:
    resume = SessionResume(last_stop=None, retried=(), pending=(), unwound_commit=None)
    before = folded(session_start(), stop(StopReason.ITER_CAP, 1), task_id=None)
    assert (before.last_stop, before.ended) == ("iter_cap", before.updated)
    after = folded(session_start(), stop(StopReason.ITER_CAP, 1), resume, task_id=None)
    assert (after.last_stop, after.ended, len(after.starts)) == (None, None, 2)
    assert after.stop is not None


def test_a_resume_without_settings_goes_on_with_those_before() -> None:
    start = session_start(settings={"TILTH_MAX_TOKENS": "7"})
    resume = SessionResume(last_stop=None, retried=(), pending=(), unwound_commit=None)
    assert folded(start, resume, task_id=None).settings == {"TILTH_MAX_TOKENS": "7"}
    other = resume.model_copy(update={"settings": {"TILTH_MAX_TOKENS": "8"}})
    assert folded(start, other, task_id=None).settings == {"TILTH_MAX_TOKENS": "8"}


def test_a_start_is_worked_in_once_a_task_is_begun() -> None:
    tape = Tape()
    resume = SessionResume(last_stop=None, retried=(), pending=(), unwound_commit=None)
    state = fold(
        [
            tape.event(session_start(), None),
            tape.event(resume, None),
            tape.event(RESET),
            tape.event(resume, None),
        ]
    )
    assert [start.worked for start in state.starts] == [False, True, False]
    assert state.tasks["T-001"].attempt.start == 1


def test_nothing_is_built_on_failed_work_wherever_it_stands() -> None:
    failed = commit(commit="f" * 40, parent=SHA, kind="failed")
    unwound = SessionResume(last_stop=None, retried=("T-001",), pending=(), unwound_commit="f" * 40)
    assert folded(SAMPLES["seed_committed"]).tip == SHA
    assert folded(SAMPLES["seed_committed"], failed).tip == SHA
    assert folded(SAMPLES["seed_committed"], failed).left_at == "f" * 40
    state = folded(SAMPLES["seed_committed"], failed, unwound)
    assert (state.tip, state.left_at) == (SHA, SHA)


def test_only_worker_calls_are_iterations() -> None:
    state = folded(model_call(), evaluator_call(), SAMPLES["model_retry"], model_call())
    assert state.iterations == state.tasks["T-001"].iterations == 2
    assert (state.spent.calls, state.retries) == (3, 1)


def test_spend_is_kept_by_role_inside_tasks_and_outside() -> None:
    usage = Usage(input_tokens=10, output_tokens=5, cache_read_tokens=100, cache_write_tokens=1)
    tape = Tape()
    seeding = model_call(role=Role.SEEDER, usage=usage, cost_usd=0.5)
    state = fold(
        [
            tape.event(seeding, None),
            tape.event(model_call(usage=usage, cost_usd=0.1)),
            tape.event(model_call(usage=usage, cost_usd=0.2), "T-002"),
            tape.event(evaluator_call(cost_usd=0.2)),
        ]
    )
    assert list(state.spend) == [Role.SEEDER, Role.WORKER, Role.EVALUATOR]
    assert state.spend[Role.WORKER].usage.counted == 32
    assert state.spent.cost_usd == 1.0
    assert state.tasks["T-001"].spent.cost_usd == 0.3
    assert state.tasks["T-001"].model_ms == {Role.WORKER: 2100, Role.EVALUATOR: 2100}


def test_a_call_without_a_price_is_counted_and_never_free() -> None:
    state = folded(model_call(cost_usd=0.5), model_call(cost_usd=None), model_call(cost_usd=None))
    assert (state.spent.cost_usd, state.spent.unpriced_calls) == (0.5, 2)
    assert not state.spent.cost_known
    assert state.unpriced_models == ("worker-model",)


def test_a_fresh_conversation_is_a_new_attempt_with_counts_of_its_own() -> None:
    task = task_after(RESET, model_call(), rejection(), RESET, model_call())
    assert (len(task.attempts), task.iterations, task.attempt.iterations) == (2, 2, 1)
    assert [attempt.rejections for attempt in task.attempts] == [1, 0]
    assert task.attempt.ledger_start == 1


def test_a_reject_of_the_harness_earns_nothing_unless_the_verdict_was_unreadable() -> None:
    mechanical = rejection(source="harness", score=None)
    unreadable = rejection(source="harness", parse_failed=True, score=None)
    task = task_after(RESET, mechanical, unreadable, rejection())
    assert task.attempt.rejections == 2
    assert [entry.source for entry in task.ledger] == ["harness", "harness", "evaluator"]


def test_a_resume_reopens_what_failed() -> None:
    resume = SAMPLES["session_resume"]
    failed = folded(RESET, SAMPLES["task_failed"], task_id="T-002")
    assert failed.tasks["T-002"].outcome is TaskOutcome.FAILED
    task = folded(RESET, SAMPLES["task_failed"], resume, task_id="T-002").tasks["T-002"]
    assert (task.outcome, task.reason, task.is_open) == (TaskOutcome.OPEN, None, False)


def test_a_task_is_open_from_its_first_step_to_its_end() -> None:
    assert not task_after(SAMPLES["operator_request"]).is_open
    assert task_after(RESET).is_open
    assert folded(RESET).open_tasks == (task_after(RESET),)
    assert not task_after(RESET, SAMPLES["task_done"]).is_open


def test_several_open_tasks_are_kept_apart() -> None:
    tape = Tape()
    state = fold(
        [
            tape.event(RESET, "T-002"),
            tape.event(RESET, "T-001"),
            tape.event(model_call(), "T-002"),
        ]
    )
    assert [(task.id, task.iterations) for task in state.open_tasks] == [("T-002", 1), ("T-001", 0)]


def test_a_forced_accept_and_an_unseen_one_are_told_apart_from_a_clean_one() -> None:
    unseen = TaskDone(commit=SHA, score=None, iterations=1, evaluated=False)
    forced = task_after(RESET, SAMPLES["task_force_accepted"], SAMPLES["task_done"])
    assert (forced.outcome, forced.below_bar, forced.attempt.forced) == ("done", True, "iter_cap")
    assert task_after(unseen).evaluated is False
    clean = task_after(SAMPLES["task_done"])
    assert (clean.below_bar, clean.evaluated) == (False, True)


def test_the_validators_of_the_last_case_keep_their_output_and_no_others() -> None:
    base = validator(phase="base", passed=False)
    red = validator(passed=False, output="red " * 999)
    task = task_after(
        RESET, base, case(), red, case().model_copy(update={"call_id": "c10"}), validator("ruff")
    )
    assert [run.name for run in task.attempt.validators] == ["ruff"]
    assert [run.output for run in task.attempt.all(ValidatorRun)] == ["", ""]
    assert (task.gates["pytest"].failed, task.gates["ruff"].passed) == (1, 1)
    assert task.gate_ms == 3 * 820


def test_a_case_heard_again_takes_the_first_ones_place() -> None:
    task = task_after(RESET, case(), validator(passed=False), case(), validator())
    kinds = [type(event.payload) for event in task.attempt.milestones]
    assert kinds == [CaseSubmitted, ValidatorRun]
    assert task.gates["pytest"].failed == 1


def test_a_case_is_green_once_it_stands_before_the_evaluator() -> None:
    asked = (RESET, prompt(Role.WORKER), model_call(uses("submit_case")), case(), validator())
    assert task_after(*asked).attempt.green is None
    attempt = task_after(*asked, reviewed()).attempt
    assert (attempt.green, attempt.review) == (case(), ReviewState("e1"))
    assert task_after(*asked, reviewed(), rejection()).attempt.review is None
    later = task_after(*asked, reviewed(), rejection(), model_call()).attempt
    assert later.green == case()


def test_quiet_turns_in_a_row_end_with_one_that_acts() -> None:
    nudge = SAMPLES["nudge"]
    assert task_after(RESET, model_call(says("hm")), nudge).attempt.quiet == 1
    assert task_after(RESET, model_call(says("hm")), nudge, model_call()).attempt.quiet == 1
    acts = model_call(uses("bash"))
    assert task_after(RESET, model_call(says("hm")), nudge, acts).attempt.quiet == 0


def test_open_concerns_are_those_nobody_settled() -> None:
    settles = rejection(resolved=("C1",))
    assert task_after(rejection(), rejection()).open_concerns == 2
    assert task_after(rejection(), settles).open_concerns == 1
    assert task_after(rejection(), verdict()).open_concerns == 1
    assert task_after(rejection(), verdict(resolved=("C1",))).open_concerns == 0


def test_an_attempt_knows_its_base_and_its_conversation() -> None:
    attempt = task_after(RESET, prompt(Role.WORKER)).attempt
    assert isinstance(RESET, ContextReset)
    assert (attempt.base, attempt.conversation, attempt.seq) == (RESET.base, "w1", 1)


def test_what_an_attempt_came_to_can_be_asked_since_an_event() -> None:
    attempt = task_after(RESET, rejection(), model_call(), verdict()).attempt
    assert len([*attempt.all(EvaluatorVerdict)]) == 2
    last = attempt.last(EvaluatorVerdict, since=attempt.last_answer)
    assert last is not None
    assert last.accepted


def test_conversations_are_kept_for_a_resume_alone() -> None:
    talk = prompt(Role.WORKER).model_copy(update={"head": {"model": "m"}})
    told = events(RESET, talk, model_call(says("hm")))
    assert fold(told).conversations is None
    kept = fold(told, conversations=True).conversations
    assert kept is not None
    assert list(kept.threads) == ["w1"]
    ended = fold([*told, *events(SAMPLES["task_done"])], conversations=True).conversations
    assert ended is not None
    assert not ended.threads


def test_no_search_for_garbage_goes_through_what_a_resume_read() -> None:
    states = []

    def watched() -> Iterator[Event]:
        for event in a_session():
            states.append(gc.isenabled())
            yield event

    before = gc.get_freeze_count()
    fold(watched(), conversations=True)
    assert set(states) == {False}
    assert gc.isenabled()
    assert gc.get_freeze_count() > before


def test_a_collector_is_left_as_it_was_found() -> None:
    def broken() -> Iterator[Any]:
        yield from events(RESET)
        raise EOFError

    with pytest.raises(EOFError):
        fold(broken(), conversations=True)
    assert gc.isenabled()
    gc.disable()
    fold(events(RESET), conversations=True)
    assert not gc.isenabled()


def test_a_long_log_leaves_no_large_text_in_the_state() -> None:
    def long() -> Iterator[Event]:
        tape = Tape()
        yield tape.event(RESET)
        for number in range(300):
            yield tape.event(model_call(says("x" * 10_000)))
            yield tape.event(tool_result("bash", "y" * 20_000))
            yield tape.event(case().model_copy(update={"call_id": f"c{number}"}))
            yield tape.event(validator(output="z" * 20_000))

    tracemalloc.start()
    try:
        fold(long())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3_000_000

"""What a folded session answers when asked about words, starts, tests and tasks."""

from __future__ import annotations

import pytest
from support.event_samples import (
    SAMPLES,
    SHA,
    Tape,
    case,
    commit,
    model_call,
    prompt,
    session_start,
    tool_result,
    validator,
    verdict,
)
from support.folding import folded, sent_back, spoke, task_after

from tilth.contract.operator_word import Verb
from tilth.contract.suite_record import SuiteRecord
from tilth.log.events import Payload, SessionResume
from tilth.log.state import fold
from tilth.log.task_state import TaskOutcome
from tilth.model.messages import Role

RESET = SAMPLES["context_reset"]


def test_what_a_person_said_counts_for_its_task_if_it_was_heard() -> None:
    state = folded(
        spoke(Verb.TELL, "first"),
        spoke(Verb.TELL, "too late", refused="done"),
        spoke(Verb.TELL, "other", task="T-002"),
        spoke(Verb.REJECT, "no"),
        spoke(Verb.TELL, "second"),
    )
    assert [word.text for word in state.words_on("T-001")] == ["first", "no", "second"]
    assert state.notes_on("T-001") == ("first", "second")
    assert state.notes_on("T-002") == ("other",)


@pytest.mark.parametrize(
    ("events", "outcome"),
    [
        # Earlier versions heard a case that waited when the person spoke: what landed decides.
        ([sent_back(), case(), verdict()], TaskOutcome.DONE),
        ([case(), sent_back(), case(), verdict()], TaskOutcome.DONE),
        # Its commit was made before the person spoke, and a kill kept it from the log.
        ([case(), verdict(), sent_back("c9")], TaskOutcome.OPEN),
    ],
)
def test_a_task_that_landed_is_open_only_if_its_case_came_before_the_reject(
    events: list[Payload], outcome: TaskOutcome
) -> None:
    landed = [commit(), SAMPLES["task_done"]]
    task = task_after(RESET, prompt(Role.WORKER), model_call(), *events, *landed)
    assert (task.outcome, task.sent_back) == (outcome, outcome is TaskOutcome.OPEN)


def test_a_case_that_a_person_sent_back_was_not_red() -> None:
    told = tool_result("submit_case", "no", call_id="c9", is_error=True)
    task = task_after(RESET, prompt(Role.WORKER), model_call(), case(), sent_back("c9"), told)
    assert task.attempt.red is None


@pytest.mark.parametrize(("jobs", "laned"), [("", False), ("1", False), ("x", False), ("2", True)])
def test_a_session_is_laned_once_any_start_had_several_jobs(jobs: str, laned: bool) -> None:
    settings = {"TILTH_JOBS": jobs} if jobs else {}
    resume = SessionResume(
        last_stop=None,
        retried=(),
        pending=(),
        unwound_commit=None,
        settings={"TILTH_JOBS": "1"},
    )
    assert folded(session_start(settings=settings), resume, task_id=None).laned is laned


def test_the_wish_for_second_opinions_is_kept_by_whoever_goes_on() -> None:
    resume = SessionResume(last_stop=None, retried=(), pending=(), unwound_commit=None)
    assert folded(session_start(), resume, task_id=None).spends_leftovers is False
    wished = session_start().model_copy(update={"spend_leftovers": True})
    assert folded(wished, resume, task_id=None).spends_leftovers is True


def test_what_the_projects_own_tests_did_is_kept_with_the_time_they_last_took() -> None:
    ran = validator("suite", duration_ms=900, suite=SuiteRecord(tree="a" * 40))
    none = validator("suite", duration_ms=5, suite=SuiteRecord(tree="b" * 40, not_run="no_tests"))
    state = folded(ran, validator(), none)
    assert [record.tree for record in state.suites] == ["a" * 40, "b" * 40]
    assert state.suite_ms == 900


def test_setup_is_what_ran_outside_of_every_task() -> None:
    hook = SAMPLES["hook_run"]
    assert folded(hook, task_id=None).setups == (hook,)
    assert folded(hook).setups == ()


def test_a_start_is_worked_in_once_a_model_is_asked_about_a_task() -> None:
    tape = Tape()
    begun = [tape.event(session_start(), None), tape.event(model_call(), None)]
    assert not fold(begun).starts[0].worked
    assert fold([*begun, tape.event(model_call())]).starts[0].worked


def test_work_that_is_kept_aside_does_not_move_the_tip() -> None:
    aside = commit(commit="f" * 40, kind="failed", ref="refs/tilth/s/T-001")
    state = folded(SAMPLES["seed_committed"], aside)
    assert state.tip == SHA
    assert set(state.commits) == {"f" * 40}


def test_what_stood_in_a_tasks_way_is_counted_over_its_events() -> None:
    unread = SAMPLES["case_parse_error"]
    met = task_after(RESET, unread, unread, validator(passed=False)).attempt.obstacles.met
    assert {kind.value: times for (kind, _, _), times in met.items()} == {
        "unreadable_case": 2,
        "validator": 1,
    }


def red(tree: str, *, is_error: bool = True) -> tuple[Payload, ...]:
    told = tool_result(name="submit_case", content=f"red {tree[0]}", is_error=is_error)
    return model_call(), case().model_copy(update={"tree": tree}), told


def test_a_tree_that_failed_is_remembered_and_counted_in_a_row() -> None:
    once = task_after(RESET, *red("a" * 40)).attempt.red
    assert once is not None
    assert (once.tree, once.told, once.times) == ("a" * 40, "red a", 1)
    twice = task_after(RESET, *red("a" * 40), *red("a" * 40)).attempt.red
    assert twice is not None
    assert (twice.told, twice.times) == ("red a", 2)
    other = task_after(RESET, *red("a" * 40), *red("b" * 40)).attempt.red
    assert other is not None
    assert (other.tree, other.times) == ("b" * 40, 1)
    assert task_after(RESET, *red("a" * 40), *red("a" * 40, is_error=False)).attempt.red is None


def test_a_tree_that_came_to_judgement_did_not_fail_the_gate() -> None:
    asked, made, told = red("a" * 40)
    assert task_after(RESET, asked, made, verdict(verdict="reject"), told).attempt.red is None


def test_a_second_opinion_is_counted_apart_from_the_work() -> None:
    second = prompt(Role.EVALUATOR).model_copy(update={"second": True, "conversation": "e2"})
    call = model_call(role=Role.EVALUATOR, conversation="e2", cost_usd=0.25)
    other = model_call(role=Role.EVALUATOR, conversation="e1", cost_usd=1.0)
    task = task_after(RESET, second, call, other)
    assert task.seconding is not None
    assert task.seconding.conversation == "e2"
    assert (task.second_spend.calls, task.second_spend.cost_usd) == (1, 0.25)
    assert task.work_usd == 1.0


@pytest.mark.parametrize(("said", "bar"), [({"TILTH_EVAL_THRESHOLD": "70"}, 70), ({}, 0)])
def test_the_bar_is_what_the_last_start_said_and_none_where_it_said_nothing(
    said: dict[str, str], bar: int
) -> None:
    before = session_start(settings={"TILTH_EVAL_THRESHOLD": "55"})
    assert folded(before, session_start(settings=said), task_id=None).threshold == bar

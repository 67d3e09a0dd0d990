"""The fold of one task: a person's verdicts, reviews, cases that failed and what is begun anew."""

from __future__ import annotations

import pytest
from support.event_samples import (
    SAMPLES,
    Tape,
    case,
    evaluator_call,
    model_call,
    prompt,
    session_start,
    tool_result,
    uses,
    verdict,
)
from support.folding import folded, reviewed, sent_back, spoke, task_after

from tilth.contract.operator_word import Verb
from tilth.contract.verdict import Decision
from tilth.log.events import (
    CaseSubmitted,
    EvaluatorTool,
    LandingRefused,
    OperatorSpoke,
    TaskDone,
    ToolResulted,
)
from tilth.log.state import fold
from tilth.log.task_state import RedTree, TaskOutcome
from tilth.model.messages import Role

RESET, DONE, FAILED = SAMPLES["context_reset"], SAMPLES["task_done"], SAMPLES["task_failed"]
ACCEPT = spoke(Verb.ACCEPT, "yes", decision=Decision.ACCEPT)
ASKED = (RESET, prompt(Role.WORKER), model_call(uses("submit_case")), case())


def looked(name: str) -> EvaluatorTool:
    sample = SAMPLES["evaluator_tool"]
    assert isinstance(sample, EvaluatorTool)
    return sample.model_copy(update={"name": name, "duration_ms": 7})


def again_with(tree: str) -> CaseSubmitted:
    return case().model_copy(update={"call_id": "c2", "tree": tree})


def refused(told: str) -> ToolResulted:
    return tool_result("submit_case", told, is_error=True)


def test_a_reject_in_mid_work_is_the_next_concern_and_the_work_goes_on() -> None:
    task = task_after(*ASKED, reviewed(), sent_back())
    assert [entry.source for entry in task.ledger] == ["person"]
    assert (task.is_open, task.sent_back, task.attempt.review) == (True, False, None)
    assert task.attempt.last(OperatorSpoke) == sent_back()


def test_a_reject_of_what_is_done_opens_it_again_without_its_score() -> None:
    task = task_after(RESET, verdict(score=91), DONE, sent_back())
    assert (task.outcome, task.sent_back, task.is_open) == (TaskOutcome.OPEN, True, False)
    assert (task.score, task.ended, task.failure) == (None, None, None)
    assert [entry.source for entry in task.ledger] == ["evaluator", "person"]


def test_a_reject_takes_back_a_persons_accept_of_what_had_failed() -> None:
    assert task_after(RESET, FAILED, ACCEPT).rescued
    task = task_after(RESET, FAILED, ACCEPT, sent_back())
    assert (task.rescued, task.sent_back, task.failure) == (False, True, None)


def test_a_reject_of_what_waits_to_land_ends_its_attempt() -> None:
    task = task_after(*ASKED, reviewed(), verdict(), sent_back(ends=True))
    assert (task.is_open, task.attempt.ended, task.sent_back) == (False, True, True)
    assert task.outcome is TaskOutcome.OPEN


@pytest.mark.parametrize("word", [sent_back(refused="too late"), sent_back(entry=None)])
def test_a_reject_that_was_refused_or_never_written_down_changes_nothing(
    word: OperatorSpoke,
) -> None:
    assert task_after(RESET, DONE, word) == task_after(RESET, DONE)


def test_an_accept_below_the_bar_holds_until_the_task_is_begun_anew() -> None:
    forced = (RESET, SAMPLES["task_force_accepted"], DONE, ACCEPT)
    assert (task_after(*forced).cleared, task_after(*forced).rescued) == (True, False)
    again = task_after(*forced, RESET)
    assert (again.cleared, again.below_bar, again.sent_back) == (False, False, False)


def test_a_done_task_keeps_the_moment_among_what_decided() -> None:
    assert task_after(RESET, DONE).attempt.last(TaskDone) == DONE


def test_a_tree_that_failed_is_remembered_and_counted_while_it_is_submitted_again() -> None:
    red = (*ASKED, refused("red"))
    tree = case().tree
    assert task_after(*red).attempt.red == RedTree(tree, "red", 1)
    again = (*red, model_call(uses("submit_case")), again_with(case().tree), refused("as before"))
    assert task_after(*again).attempt.red == RedTree(tree, "red", 2)
    other = (*red, model_call(uses("submit_case")), again_with("9" * 40))
    assert task_after(*other, refused("red too")).attempt.red == RedTree("9" * 40, "red too", 1)


def test_a_case_nobody_could_read_says_nothing_about_the_tree_before_it() -> None:
    red = (*ASKED, refused("red"))
    unread = (*red, model_call(uses("submit_case")), refused("ac_coverage: missing"))
    assert task_after(*unread).attempt.red == task_after(*red).attempt.red


def test_what_came_to_judgement_or_was_rejected_by_a_person_is_no_red_tree() -> None:
    assert task_after(*ASKED, verdict(verdict="reject"), refused("no")).attempt.red is None
    assert task_after(*ASKED, sent_back("c1"), refused("no")).attempt.red is None
    assert task_after(*ASKED, tool_result("submit_case")).attempt.red is None


@pytest.mark.parametrize(
    ("result", "edited"),
    [
        (tool_result("write_file"), 4),
        (tool_result("edit_file"), 4),
        (tool_result("write_file", is_error=True), 0),
        (tool_result("bash"), 0),
    ],
)
def test_only_an_edit_that_was_made_is_the_last_one(result: ToolResulted, edited: int) -> None:
    tape = Tape()
    task = fold([tape.event(RESET), tape.event(result, iter=4)]).tasks["T-001"]
    assert task.attempt.last_edit == edited


def test_iterations_between_the_last_edit_and_its_case_are_the_tail() -> None:
    tape = Tape()
    edit = tape.event(RESET), tape.event(tool_result("write_file"), iter=2)
    task = fold([*edit, tape.event(case(), iter=6)]).tasks["T-001"]
    assert (task.verification_tail, task.attempt.last_edit) == (3, 0)


def test_a_failed_call_and_a_failed_command_are_counted() -> None:
    fine, wrong = tool_result("bash", exit_code=0), tool_result("bash", exit_code=1)
    task = task_after(RESET, fine, wrong, tool_result("read_file", is_error=True))
    assert task.tool_failures == 2


def test_a_probe_of_the_evaluator_is_kept_and_what_it_only_read_is_not() -> None:
    task = task_after(*ASKED, reviewed(), looked("read_file"), looked("run_probe"))
    assert [tool.name for tool in task.evaluator_probes] == ["run_probe"]
    assert task.gate_ms == 14


def test_a_review_counts_its_answers_and_keeps_those_that_could_not_be_read() -> None:
    unread = SAMPLES["evaluator_parse_error"]
    first, second = evaluator_call(latency_ms=1), evaluator_call(latency_ms=2)
    task = task_after(*ASKED, reviewed(), first, unread, second)
    review = task.attempt.review
    assert review is not None
    assert (review.answers, review.last, review.unread) == (2, second, (first,))
    assert (review.corrected, task.unreadable_verdicts) == (False, 1)


def test_a_review_that_was_told_of_its_probe_stays_corrected() -> None:
    told = (*ASKED, reviewed(), evaluator_call(), looked("submit_verdict"), evaluator_call())
    review = task_after(*told).attempt.review
    assert review is not None
    assert (review.corrected, review.answers) == (True, 2)


def test_another_conversation_is_none_of_a_reviews_business() -> None:
    other = evaluator_call(conversation="e9")
    review = task_after(*ASKED, reviewed(), other).attempt.review
    assert review is not None
    assert (review.answers, review.last) == (0, None)


def test_a_worker_that_goes_on_has_no_review_under_way() -> None:
    assert task_after(*ASKED, reviewed(), model_call()).attempt.review is None


def test_a_log_without_a_stop_has_not_stopped() -> None:
    assert not folded(RESET).stopped


def test_a_verdict_without_a_score_leaves_the_last_one() -> None:
    assert task_after(RESET, verdict(score=61), verdict(score=None)).score == 61


def test_a_refused_landing_takes_back_what_was_forced_and_moves_the_base() -> None:
    forced = SAMPLES["task_force_accepted"]
    refusal = SAMPLES["landing_refused"]
    assert isinstance(refusal, LandingRefused)
    task = task_after(*ASKED, forced, refusal)
    assert (task.forced, task.attempt.forced, task.attempt.base) == (None, None, refusal.onto)
    assert task.attempt.last(LandingRefused) == refusal


def test_what_a_person_rejected_in_its_last_moment_goes_back_although_it_failed() -> None:
    task = task_after(*ASKED, sent_back(), FAILED)
    assert (task.outcome, task.sent_back, task.is_open) == (TaskOutcome.OPEN, True, False)
    answered = task_after(*ASKED, sent_back(), model_call(), FAILED)
    assert (answered.outcome, answered.sent_back) == (TaskOutcome.FAILED, False)


def test_a_forecast_is_kept_with_what_was_done_by_then() -> None:
    tape = Tape()
    told = fold([tape.event(RESET), tape.event(DONE), tape.event(SAMPLES["forecast"], None)])
    assert [note.done for note in told.forecasts] == [1]
    assert [note.done for note in folded(SAMPLES["forecast"], task_id=None).forecasts] == [0]


def test_second_opinions_are_wished_for_only_where_a_start_says_so() -> None:
    assert not folded(session_start(), task_id=None).spends_leftovers
    assert folded(session_start(spend_leftovers=True), task_id=None).spends_leftovers

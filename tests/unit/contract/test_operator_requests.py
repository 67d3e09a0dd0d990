"""Operator requests: what still waits for a person, and what a person has said."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tilth.contract.operator_requests import OperatorRequest, answers_for, still_open


def line(number: int, kind: str, text: str = "…", task_id: str | None = "T-001") -> OperatorRequest:
    return OperatorRequest.model_validate(
        {
            "ts": "2026-11-16T22:15:30.000Z",
            "request": f"R-{number:03d}",
            "task_id": task_id,
            "kind": kind,
            "text": text,
        }
    )


def test_a_question_is_open_until_it_is_answered() -> None:
    first, second = line(1, "blocked"), line(2, "blocked", task_id="T-002")
    assert still_open([]) == ()
    assert still_open([first, second]) == (first, second)
    assert still_open([first, second, line(1, "answer")]) == (second,)
    assert still_open([first, line(1, "answer"), line(1, "answer")]) == ()


def test_a_flag_needs_no_answer_and_an_answer_to_nothing_opens_nothing() -> None:
    assert still_open([line(1, "below_bar"), line(9, "answer")]) == ()


def test_a_question_asked_again_is_open_again() -> None:
    again = line(1, "blocked", "And now?")
    assert still_open([line(1, "blocked"), line(1, "answer"), again]) == (again,)


def test_a_task_hears_the_answers_to_its_own_questions_in_order() -> None:
    lines = [
        line(1, "blocked", "Which?"),
        line(2, "blocked", "Where?", task_id="T-002"),
        line(1, "answer", "The first."),
        line(2, "answer", "Here."),
        line(3, "below_bar", "Fine?"),
        line(3, "answer", "Do better."),
        line(1, "answer", "No, the second."),
        line(9, "answer", "To nobody."),
    ]
    assert answers_for(lines, "T-001") == (
        "Asked: Which? Answered: The first.",
        "Asked: Fine? Answered: Do better.",
        "Asked: Which? Answered: No, the second.",
    )
    assert answers_for(lines, "T-002") == ("Asked: Where? Answered: Here.",)
    assert answers_for(lines, "T-003") == ()


def test_an_answer_counts_by_its_request_whatever_task_it_names() -> None:
    lines = [line(1, "blocked", "Which?"), line(1, "answer", "That.", task_id=None)]
    assert answers_for(lines, "T-001") == ("Asked: Which? Answered: That.",)


def test_no_other_kind_of_line_is_known() -> None:
    with pytest.raises(ValidationError):
        line(1, "shout")


def test_a_line_that_a_later_version_wrote_is_read_and_cannot_be_changed() -> None:
    known = line(1, "blocked")
    later = OperatorRequest.model_validate({**known.model_dump(), "field_of_later": 1})
    assert later == known
    with pytest.raises(ValidationError):
        later.text = "another"  # type: ignore[misc]

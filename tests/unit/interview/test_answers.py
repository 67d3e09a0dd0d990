"""Answers from a file: in order, by question, or left to the seeder."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import UserError
from tilth.interview.answers import Answers, AnswersFrontend, read_answers
from tilth.interview.question import DECIDE_YOURSELF, Question
from tilth.interview.summary import spent_line
from tilth.model.messages import Role, Usage
from tilth.task.budget import Meter, Spend


def written(folder: Path, content: Any) -> Path:
    path = folder / "answers.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_list_is_taken_in_order_and_what_is_missing_is_left_to_the_seeder(tmp_path: Path) -> None:
    answers = read_answers(written(tmp_path, ["red", None, 3, True]))
    said = [answers.to("any?") for _ in range(5)]
    assert said == ["red", DECIDE_YOURSELF, "3", "yes", DECIDE_YOURSELF]


def test_a_map_is_matched_loosely(tmp_path: Path) -> None:
    answers = read_answers(written(tmp_path, {"Which   colour?": "red"}))
    assert answers.to("which colour") == "red"
    assert answers.to("Which size?") == DECIDE_YOURSELF


def test_answers_of_an_earlier_sitting_are_passed_over() -> None:
    frontend = AnswersFrontend(Answers(in_order=["a", "b"]), io.StringIO())
    frontend.pass_over(1)
    assert frontend.ask(Question(question="Which?")) == "b"


def test_a_number_names_an_option_and_all_that_is_shown_is_inert() -> None:
    stream = io.StringIO()
    frontend = AnswersFrontend(Answers(in_order=["2", "7"]), stream)
    question = Question(question="Which\x1b[31m one?", options=("a", "b"))
    assert frontend.ask(question) == "b"
    assert frontend.ask(question) == "7"
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("content", [3, "yes", [["a"]], {"a": {}}])
def test_a_file_that_holds_no_answers_is_refused(tmp_path: Path, content: Any) -> None:
    with pytest.raises(UserError, match="a JSON list of answers"):
        read_answers(written(tmp_path, content))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.json cannot be read"):
        read_answers(tmp_path / "none.json")
    (tmp_path / "bad.json").write_bytes(b"\xff")
    with pytest.raises(UserError, match="not UTF-8 at byte 0"):
        read_answers(tmp_path / "bad.json")


def test_a_price_nobody_knows_is_never_shown_as_nothing() -> None:
    spend = Spend().after(Usage(input_tokens=1500), None)
    assert (
        spent_line(Meter(lambda: {Role.SEEDER: spend}), 2)
        == "turn 2 of 60 · 1.5k tokens · cost unknown"
    )
    more = spend.after(Usage(), 0.5)
    assert spent_line(Meter(lambda: {Role.SEEDER: more}), 3).endswith("$0.50 + unknown")

"""Names, texts and criteria of a seed, and the questions that lead to it."""

from __future__ import annotations

import pytest

from tilth.base.errors import Unreadable
from tilth.contract.numbering import first_free_id
from tilth.contract.prd import Plan, Task
from tilth.interview.criteria import named_criteria
from tilth.interview.draft import parse_draft
from tilth.interview.question import parse_question
from tilth.interview.rules import (
    covered,
    criteria_problems,
    name_problems,
    text_problems,
)

CRITERIA = '''\
"""AC-8 in a docstring is no comment."""
# AC-9 stands over nothing
import os


# AC-1
@os.decorate
def test_one():
    x = "# AC-7"


def helper():
    # AC-6
    pass


class TestMore:
    def test_two(self):  # AC-2, AC-3
        pass
'''


def task(*criteria: str) -> Task:
    return Task(id="T-001", title="t", description="d", acceptance_criteria=criteria)


def test_a_criterion_is_named_by_a_comment_in_on_or_above_a_test() -> None:
    assert named_criteria(CRITERIA) == {1, 2, 3}


def test_a_task_with_one_criterion_needs_no_name() -> None:
    plain = {"test_t001_a.py": "def test_a():\n    pass\n"}
    assert list(criteria_problems(task("one"), plain)) == []
    assert covered(task("one"), plain) == 1
    assert covered(task("one"), {}) == 0
    assert covered(task("one", "two"), plain) == 0


def test_a_name_of_no_criterion_is_a_problem_of_its_own() -> None:
    said = list(criteria_problems(task("one", "two"), {"test_t001_a.py": CRITERIA}))
    assert said == ["T-001: a test names AC-3, but the task has 2 criteria"]


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "a/test_t001_x.py", "..", "conftest.py", "test_t01_x.py", "test_t001_x.py\n"],
)
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    assert "plain file name" in name_problems([name], Plan(tasks=(task("one"),)), ())[0]


def test_a_file_of_the_repository_is_not_replaced() -> None:
    plan = Plan(tasks=(task("one"),))
    taken = ["tests/test_t001_x.py"]
    assert "already stands" in name_problems(["test_t001_x.py"], plan, taken)[0]


def test_the_first_free_id_is_above_every_test_that_stands() -> None:
    assert first_free_id([]) == "T-001"
    assert first_free_id(["tests/test_t012_a.py", "tests/test_t003_b.py", "x.py"]) == "T-013"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import pytest\n\n\ndef test_a():\n    pytest.skip('no')\n", ":5: skips a test"),
        ("import unittest\n\n\n@unittest.skipIf(1, '')\ndef test_a():\n    pass\n", ":4: skips"),
        ("x = '\ud800'\n\n\ndef test_a():\n    pass\n", "does not parse"),
        ("def test_a():\n    pass\n" + "#" * 200_001, "longer than"),
    ],
)
def test_a_text_that_proves_nothing_is_refused(text: str, said: str) -> None:
    assert said in text_problems("test_t001_a.py", text)[0]


def test_a_skip_of_the_project_is_no_skipped_test() -> None:
    text = "from shop import cursor\n\n\ndef test_a():\n    assert cursor.skip(2) == 3\n"
    assert text_problems("test_t001_a.py", text) == []


@pytest.mark.parametrize(
    ("text", "compound"),
    [
        ("Which colour?", False),
        ("README says `why? how?`: which one (a? b?) do you mean?", False),
        ("Which colour? Which size?", True),
        ("Which colour, and also which size?", True),
        ("Say:\n- which colour?\nthanks", True),
    ],
)
def test_a_question_that_asks_several_things_is_told_from_one(text: str, compound: bool) -> None:
    assert parse_question({"question": text}).is_compound is compound


def test_options_are_cleaned_and_bounded() -> None:
    question = parse_question({"question": " Which? ", "options": ["a", " a ", "", "b"]})
    assert (question.question, question.options) == ("Which?", ("a", "b"))
    with pytest.raises(Unreadable, match="options"):
        parse_question({"question": "Which?", "options": list("abcdefghij")})
    with pytest.raises(Unreadable, match="one JSON object"):
        parse_question(["Which?"])


def test_a_draft_may_come_as_json_in_a_string() -> None:
    draft = parse_draft({"prd_entries": '[{"id": "T-001"}]', "test_files": "{}", "tldr": "x"})
    assert draft.prd_entries == [{"id": "T-001"}]
    with pytest.raises(Unreadable, match="test_files"):
        parse_draft({"prd_entries": [], "test_files": "{", "tldr": "x"})
    with pytest.raises(Unreadable, match="one JSON object"):
        parse_draft("x")

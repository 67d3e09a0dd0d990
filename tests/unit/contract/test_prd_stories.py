"""The plan, from a PRD in the `userStories` shape of other loops."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.base.errors import BadPlan
from tilth.contract.prd import Status, parse_plan


def story(id: Any, **changes: Any) -> dict[str, Any]:
    return {
        "id": id,
        "title": f"Story {id}",
        "description": "As a user I want it.",
        "acceptanceCriteria": ["it works", "typecheck passes"],
        "priority": 1,
        "passes": False,
        **changes,
    }


def problems(*stories: Any) -> list[str]:
    with pytest.raises(BadPlan) as caught:
        parse_plan({"userStories": list(stories)}, "prd.json")
    return list(caught.value.problems)


def source_ids(*stories: dict[str, Any]) -> list[str | None]:
    plan = parse_plan({"userStories": list(stories)}, "prd.json")
    assert [task.id for task in plan.tasks] == [f"T-{n + 1:03d}" for n in range(len(stories))]
    return [task.source_id for task in plan.tasks]


def test_a_story_becomes_a_task() -> None:
    document = {"project": "Words", "branchName": "x", "userStories": [story("US-7", notes="")]}
    plan = parse_plan(document, "prd.json")
    (task,) = plan.tasks
    assert plan.feature == "Words"
    assert (task.id, task.source_id, task.title) == ("T-001", "US-7", "Story US-7")
    assert task.acceptance_criteria == ("it works", "typecheck passes")
    assert task.status is Status.PENDING


def test_stories_come_by_priority_and_ties_in_file_order() -> None:
    stories = [
        story("a", priority=2),
        story("b", priority=1),
        story("c", priority=2),
        story("d", priority=1.5),
        story("e", priority=-1),
    ]
    assert source_ids(*stories) == ["e", "b", "d", "a", "c"]


def test_a_story_without_a_priority_comes_last() -> None:
    late = story("late")
    del late["priority"]
    assert source_ids(late, story("a", priority=10**9)) == ["a", "late"]


def test_a_priority_too_large_for_a_float_is_still_an_order() -> None:
    assert source_ids(story("b", priority=10**400), story("a", priority=3)) == ["a", "b"]


def test_a_story_that_passes_arrives_as_done_and_without_a_commit() -> None:
    stories = [story("a", priority=2, passes=True), story("b", priority=1)]
    plan = parse_plan({"userStories": stories}, "prd.json")
    assert [(task.status, task.commit) for task in plan.tasks] == [
        (Status.PENDING, None),
        (Status.DONE, None),
    ]
    assert plan.next_pending() == plan.tasks[0]


def test_a_story_without_passes_is_pending() -> None:
    lean = story("a")
    del lean["passes"]
    (task,) = parse_plan({"userStories": [lean]}, "prd.json").tasks
    assert task.status is Status.PENDING


def test_a_numeric_id_is_kept_as_text() -> None:
    assert source_ids(story(7)) == ["7"]


@pytest.mark.parametrize("stories", [[], None, {}, "x", 3])
def test_stories_must_be_a_list_with_something_in_it(stories: Any) -> None:
    with pytest.raises(BadPlan, match="userStories: must be a list of at least one story"):
        parse_plan({"userStories": stories}, "prd.json")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": None}, "id: must be a string, got null"),
        ({"id": True}, "id: must be a string, got true or false"),
        ({"title": ""}, "title: must be a non-empty string, but it is empty"),
        ({"description": None}, "description: must be a non-empty string, got null"),
        ({"acceptanceCriteria": []}, "acceptanceCriteria: must hold at least one entry"),
        ({"acceptanceCriteria": "x"}, "acceptanceCriteria: must be a list of strings"),
        ({"acceptanceCriteria": [3]}, "acceptanceCriteria[0]: must be a non-empty string"),
        ({"priority": "high"}, "priority: must be a number, got a string"),
        ({"priority": True}, "priority: must be a number, got true or false"),
        ({"priority": None}, "priority: must be a number, got null"),
        ({"passes": "yes"}, "passes: must be true or false, got a string"),
        ({"passes": 1}, "passes: must be true or false, got a number"),
    ],
)
def test_a_wrong_field_is_named_as_the_user_wrote_it(changes: dict[str, Any], said: str) -> None:
    (first,) = problems(story("ok"), story(**({"id": "bad"} | changes)))
    assert first.startswith(f"userStories[1].{said}")


def test_all_problems_of_all_stories_are_listed_at_once() -> None:
    said = problems(story("a", title=""), 3, {})
    assert [line.split(":")[0] for line in said] == [
        "userStories[0].title",
        "userStories[1]",
        "userStories[2].id",
        "userStories[2].title",
        "userStories[2].description",
        "userStories[2].acceptanceCriteria",
    ]

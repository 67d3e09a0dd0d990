"""The plan: what a PRD may say, what is refused and how, and which task comes next."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from pydantic import ValidationError

from tilth.base.errors import BadPlan
from tilth.contract.prd import Plan, Status, Task, parse_plan

P, W, E, A, D, F = Status  # pending, in_progress, pending_eval, accepted, done, failed


def entry(number: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"T-{number:03d}",
        "title": "A title",
        "description": "A description",
        "acceptance_criteria": ["it works"],
        **changes,
    }


def without(field: str) -> dict[str, Any]:
    return {name: value for name, value in entry().items() if name != field}


def problems(document: Any) -> list[str]:
    with pytest.raises(BadPlan) as caught:
        parse_plan(document, "prd.json")
    return list(caught.value.problems)


def test_a_bare_list_and_an_object_give_the_same_tasks() -> None:
    listed = parse_plan([entry()], "prd.json")
    wrapped = parse_plan({"version": 1, "feature": "Slugs", "tasks": [entry()]}, "prd.json")
    assert listed.tasks == wrapped.tasks
    assert (listed.feature, wrapped.feature) == (None, "Slugs")


def test_every_authored_field_is_kept() -> None:
    whole = entry(2, depends_on=["T-001"], may_change=["conftest.py"], reviewer="strict")
    task = parse_plan([entry(1), whole], "prd.json").tasks[1]
    assert task.depends_on == ("T-001",)
    assert task.may_change == ("conftest.py",)
    assert task.reviewer == "strict"


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (None, 'must be a list of tasks or an object with "tasks", got null'),
        (7, 'must be a list of tasks or an object with "tasks", got a number'),
        (1.5, 'must be a list of tasks or an object with "tasks", got a number'),
        ("T-001", 'must be a list of tasks or an object with "tasks", got a string'),
        (True, 'must be a list of tasks or an object with "tasks", got true or false'),
        ([], "tasks: must hold at least one task"),
        ({}, "tasks: missing; a PRD needs a list of tasks"),
        ({"tasks": []}, "tasks: must hold at least one task"),
        ({"tasks": None}, "tasks: missing; a PRD needs a list of tasks"),
        ({"version": 2, "tasks": [entry()]}, "version: must be 1, got 2"),
        ({"version": True, "tasks": [entry()]}, "version: must be 1, got True"),
        ({"version": None, "tasks": [entry()]}, "version: must be 1, got None"),
        ({"feature": 3, "tasks": [entry()]}, "feature: must be a string, got a number"),
    ],
)
def test_a_wrong_top_level_is_refused(document: Any, said: str) -> None:
    assert problems(document) == [said]


def test_tasks_that_are_no_list_are_named() -> None:
    assert problems({"tasks": {"id": "T-001"}})[0].startswith("tasks: must be a list of tasks")


@pytest.mark.parametrize("item", [None, 3, "T-001", [], False])
def test_a_task_that_is_no_object_is_named_by_its_place(item: Any) -> None:
    (said,) = problems([entry(), item])
    assert said.startswith("tasks[1]: must be an object, got ")


@pytest.mark.parametrize(
    "bad",
    [
        "T-1",
        "T-12",
        "t-001",
        "T001",
        "T-001\n",
        " T-001",
        "T-001a",
        "T-١٢٣",
        "T-１２３",
        "../T-001",
        "",
        1,
        None,
        True,
        ["T-001"],
    ],
)
def test_an_id_of_another_shape_is_refused(bad: Any) -> None:
    (said,) = problems([entry(id=bad)])
    assert said == f"tasks[0].id: must be T- and at least three digits, got {bad!r}"


def test_an_id_that_could_name_no_file_is_refused() -> None:
    assert parse_plan([entry(id="T-" + 30 * "1")], "prd.json").tasks
    (said,) = problems([entry(id="T-" + 300 * "1")])
    assert said == "tasks[0].id: is longer than 32 characters"


def test_an_id_may_have_more_than_three_digits() -> None:
    assert parse_plan([entry(id="T-123456")], "prd.json").tasks[0].id == "T-123456"


@pytest.mark.parametrize("field", ["title", "description"])
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "must be a non-empty string, but it is empty"),
        (" \n\t", "must be a non-empty string, but it is empty"),
        ("\u200b\u2060", "must be a non-empty string, but it is empty"),
        ("half \ud800", "must be a non-empty string, but it holds characters that are not text"),
        (None, "must be a non-empty string, got null"),
        (5, "must be a non-empty string, got a number"),
        (["x"], "must be a non-empty string, got a list"),
        ({}, "must be a non-empty string, got an object"),
    ],
)
def test_a_text_must_be_a_string_with_something_in_it(field: str, value: Any, said: str) -> None:
    assert problems([entry(**{field: value})]) == [f"tasks[0].{field}: {said}"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], ": must hold at least one entry"),
        ("it works", ": must be a list of strings, got a string"),
        (None, ": must be a list of strings, got null"),
        ({}, ": must be a list of strings, got an object"),
        (["ok", ""], "[1]: must be a non-empty string, got ''"),
        (["ok", "  "], "[1]: must be a non-empty string, got '  '"),
        (["ok", 3], "[1]: must be a non-empty string, got a number"),
        ([None], "[0]: must be a non-empty string, got null"),
    ],
)
def test_criteria_are_a_list_of_texts(value: Any, said: str) -> None:
    (first, *_) = problems([entry(acceptance_criteria=value)])
    assert first == f"tasks[0].acceptance_criteria{said}"


@pytest.mark.parametrize("field", ["id", "title", "description", "acceptance_criteria"])
def test_a_missing_field_is_said_to_be_missing(field: str) -> None:
    (said,) = problems([without(field)])
    assert said.startswith(f"tasks[0].{field}: ")
    assert said.endswith("got nothing")


@pytest.mark.parametrize("field", ["depends_on", "may_change"])
def test_an_optional_list_may_be_absent_or_null_but_not_a_string(field: str) -> None:
    task = parse_plan([entry(**{field: None})], "prd.json").tasks[0]
    assert getattr(task, field) == ()
    (said,) = problems([entry(**{field: "T-001"})])
    assert said == f"tasks[0].{field}: must be a list of strings, got a string"


@pytest.mark.parametrize("value", ["", " ", 3, []])
def test_a_reviewer_must_be_a_name(value: Any) -> None:
    (said,) = problems([entry(reviewer=value)])
    assert said.startswith("tasks[0].reviewer: must be a non-empty string")


def test_two_tasks_with_one_id_are_refused() -> None:
    assert problems([entry(1), entry(2), entry(1)]) == [
        "tasks[2].id: T-001 is already used by tasks[0]"
    ]


def test_a_dependency_must_exist() -> None:
    assert problems([entry(1, depends_on=["T-009"])]) == [
        "tasks[0].depends_on: 'T-009' is not a task of this PRD"
    ]


def test_a_task_cannot_depend_on_itself() -> None:
    assert problems([entry(1, depends_on=["T-001"])]) == [
        "tasks[0].depends_on: T-001 depends on itself"
    ]


@pytest.mark.parametrize("length", [2, 3, 7])
def test_a_cycle_is_refused_with_its_members(length: int) -> None:
    ring = [entry(n, depends_on=[f"T-{n % length + 1:03d}"]) for n in range(1, length + 1)]
    (said,) = problems([entry(100, depends_on=["T-001"]), *ring])
    members = said.removeprefix("depends_on: tasks wait for each other: ").split(" -> ")
    assert members[0] == members[-1]
    assert set(members) == {f"T-{n:03d}" for n in range(1, length + 1)}


def test_a_diamond_is_no_cycle_and_a_long_chain_is_no_trouble() -> None:
    diamond = [
        entry(1, depends_on=["T-002", "T-003"]),
        entry(2, depends_on=["T-004"]),
        entry(3, depends_on=["T-004"]),
        entry(4),
    ]
    assert len(parse_plan(diamond, "prd.json").tasks) == 4
    chain = [entry(n, depends_on=[f"T-{n + 1:03d}"]) for n in range(1, 1500)]
    assert len(parse_plan([*chain, entry(1500)], "prd.json").tasks) == 1500


def test_untested_are_the_open_tasks_that_no_test_belongs_to() -> None:
    tasks = parse_plan([entry(1), entry(2), entry(3)], "prd.json").tasks
    done = tasks[2].model_copy(update={"status": Status.DONE})
    plan = Plan(tasks=(*tasks[:2], done))
    assert plan.untested(["test_t001_a.py"]) == ("T-002",)
    assert plan.untested([]) == ("T-001", "T-002")


def test_all_problems_are_listed_at_once_each_with_the_file() -> None:
    document = {
        "version": 3,
        "tasks": [
            entry(1, title="", depends_on=["T-001", "T-777"]),
            "no task",
            entry(1, acceptance_criteria=[]),
            {},
        ],
    }
    with pytest.raises(BadPlan) as caught:
        parse_plan(document, "some/prd.json")
    lines = str(caught.value).splitlines()
    assert len(lines) == len(caught.value.problems)
    assert all(line.startswith("some/prd.json: ") for line in lines)
    places = [line.removeprefix("some/prd.json: ").split(":")[0] for line in lines]
    assert places == [
        "version",
        "tasks[0].title",
        "tasks[1]",
        "tasks[2].acceptance_criteria",
        "tasks[3].id",
        "tasks[3].title",
        "tasks[3].description",
        "tasks[3].acceptance_criteria",
        "tasks[2].id",
        "tasks[0].depends_on",
        "tasks[0].depends_on",
    ]


@pytest.mark.parametrize("status", ["done", "failed", "nonsense", 5, None])
def test_what_the_harness_owns_is_ignored_when_authored(status: Any) -> None:
    authored = entry(status=status, commit="abc", score="high", rescue_count=-1, agent=[])
    assert parse_plan([authored], "prd.json").tasks[0] == Task(**entry())


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("depend_on", "depends_on"),
        ("dependsOn", "depends_on"),
        ("may_changes", "may_change"),
        ("reviewers", "reviewer"),
        ("acceptanceCriteria", "acceptance_criteria"),
        ("titles", "title"),
        ("descriptions", "description"),
    ],
)
def test_a_field_that_is_nearly_right_is_a_problem(wrong: str, right: str) -> None:
    assert problems([entry(**{wrong: ["T-001"]})]) == [
        f"tasks[0].{wrong}: unknown field; did you mean {right}?"
    ]


def test_a_field_that_means_something_else_is_left_alone() -> None:
    assert parse_plan([entry(notes="mine", estimate=3)], "prd.json").tasks[0] == Task(**entry())


@pytest.mark.parametrize(("before", "to"), list(product(Status, Status)))
def test_only_the_legal_moves_are_possible(before: Status, to: Status) -> None:
    legal = {(P, W), (W, E), (E, D), (E, W), (W, F), (E, F), (F, P)}
    # By a person, by a fresh start, and where several tasks are worked on at once.
    legal |= {(D, P), (F, D), (W, P), (E, A), (A, D), (A, W), (A, P), (P, F), (A, F), (F, F)}
    task = Task(**entry(status=before))
    if (before, to) in legal:
        moved = task.moved(to, rescue_count=2)
        assert (moved.status, moved.rescue_count, task.status) == (to, 2, before)
    else:
        with pytest.raises(ValueError, match=f"T-001 cannot move from {before} to {to}"):
            task.moved(to)


def plan_of(*states: tuple[Status, list[str]]) -> Plan:
    tasks = [
        Task(**entry(n, status=status, depends_on=tuple(waits)))
        for n, (status, waits) in enumerate(states, start=1)
    ]
    return Plan(tasks=tuple(tasks))


@pytest.mark.parametrize(
    ("states", "wanted"),
    [
        ([(P, []), (P, [])], "T-001"),
        ([(D, []), (P, [])], "T-002"),
        ([(P, ["T-002"]), (P, [])], "T-002"),
        ([(P, ["T-002"]), (D, [])], "T-001"),
        ([(P, ["T-002", "T-003"]), (D, []), (P, [])], "T-003"),
        ([(F, []), (P, ["T-001"]), (P, [])], "T-003"),
        ([(F, []), (P, ["T-001"])], None),
        ([(W, []), (P, ["T-001"])], None),
        ([(E, []), (P, ["T-001"]), (P, [])], "T-003"),
        ([(D, []), (D, [])], None),
    ],
)
def test_the_next_task_is_the_first_whose_dependencies_are_done(
    states: list[tuple[Status, list[str]]], wanted: str | None
) -> None:
    task = plan_of(*states).next_pending()
    assert (task and task.id) == wanted


def test_a_plan_is_all_done_only_when_every_task_is() -> None:
    assert plan_of((D, []), (D, [])).all_done
    assert not any(plan_of((D, []), (status, [])).all_done for status in (P, W, E, A, F))


def test_a_replaced_task_leaves_order_and_others_as_they_were() -> None:
    plan = plan_of((P, []), (P, []), (P, []))
    second = plan.tasks[1].moved(W)
    assert plan.replaced(second).tasks == (plan.tasks[0], second, plan.tasks[2])
    assert plan.tasks[1].status is P


@pytest.mark.parametrize(
    ("task_id", "name", "owned"),
    [
        ("T-001", "test_t001_x.py", True),
        ("T-001", "test_t001_.py", True),
        ("T-001", "test_t001_a_b.py", True),
        ("T-001", "test_t0010_x.py", False),
        ("T-001", "test_t001x.py", False),
        ("T-001", "test_t001.py", False),
        ("T-001", "test_T001_x.py", False),
        ("T-001", "test_t001_x.pyc", False),
        ("T-001", "xtest_t001_x.py", False),
        ("T-0010", "test_t0010_x.py", True),
        ("T-0010", "test_t001_0_x.py", False),
    ],
)
def test_a_task_owns_the_tests_that_carry_its_id(task_id: str, name: str, owned: bool) -> None:
    assert Task(**entry(id=task_id)).owns_test(name) is owned


@pytest.mark.parametrize("task_id", ["../../x", "T-001\n", "T-1", "T-١٢٣", ""])
def test_no_task_can_be_made_with_a_malformed_id(task_id: str) -> None:
    with pytest.raises(ValidationError):
        Task(**entry(id=task_id))


def test_no_plan_can_be_made_with_one_id_twice() -> None:
    with pytest.raises(ValidationError, match="same id"):
        Plan(tasks=(Task(**entry(1)), Task(**entry(1))))


@pytest.mark.parametrize(
    ("round", "status", "sent_back"),
    [(1, P, False), (2, P, True), (2, F, True), (2, D, False), (3, W, True)],
)
def test_a_task_is_sent_back_from_its_second_round_until_it_is_done(
    round: int, status: Status, sent_back: bool
) -> None:
    assert Task(**entry(round=round, status=status)).sent_back is sent_back


def test_a_task_stands_on_all_below_it_and_on_what_it_was_merged_with() -> None:
    plan = plan_of((D, []), (D, ["T-001"]), (D, []), (D, ["T-002"]), (D, []))
    third = plan.tasks[2].model_copy(update={"merged_with": ("T-005",)})
    plan = plan.replaced(third)
    fourth = plan.tasks[3].model_copy(update={"merged_with": ("T-003",)})
    plan = plan.replaced(fourth)
    assert [task.id for task in plan.upstream_of(fourth)] == ["T-001", "T-002"]
    assert plan.upstream_of(plan.tasks[0]) == ()
    assert plan.in_base_of(fourth) == {"T-001", "T-002", "T-003", "T-005"}


def test_a_done_task_builds_on_what_was_sent_back_near_or_far() -> None:
    plan = plan_of((P, []), (D, ["T-001"]), (D, ["T-002"]), (P, ["T-001"]))
    assert plan.builds_on_sent_back(plan.tasks[2]) == ()
    plan = plan.replaced(plan.tasks[0].model_copy(update={"round": 2}))
    assert plan.builds_on_sent_back(plan.tasks[2]) == ("T-001",)
    assert plan.builds_on_sent_back(plan.tasks[3]) == ()


def test_a_plan_is_written_with_the_version_it_is_read_by() -> None:
    assert plan_of((P, [])).model_dump()["version"] == 1

"""The plan's graph, told before a run: levels, the longest path, jobs, and what may collide."""

from __future__ import annotations

from tilth.contract.prd import Plan, Task
from tilth.interview.plan_graph import graph_lines, graph_of


def task(number: int, *depends: int, text: str = "d") -> Task:
    return Task(
        id=f"T-{number:03d}",
        title="t",
        description=text,
        acceptance_criteria=("a",),
        depends_on=tuple(f"T-{each:03d}" for each in depends),
    )


def test_levels_path_and_jobs_are_told() -> None:
    plan = Plan(tasks=(task(1), task(2, 1), task(3, 1), task(4, 2, 3)))
    assert list(graph_lines(graph_of(plan, {}))) == [
        "graph: 3 levels: T-001 | T-002 T-003 | T-004",
        "longest path: T-001 -> T-002 -> T-004",
        "at once: up to 2 jobs",
    ]


def test_a_chain_says_that_one_job_is_all_there_is_to_use() -> None:
    plan = Plan(tasks=(task(1), task(2, 1)))
    assert "at once: one job: each task waits for another" in graph_lines(graph_of(plan, {}))


def test_a_plan_of_one_task_has_no_shape() -> None:
    assert list(graph_lines(graph_of(Plan(tasks=(task(1),)), {}))) == []


def test_tasks_whose_tests_import_the_same_module_are_warned_of() -> None:
    plan = Plan(tasks=(task(1), task(2), task(3)))
    tests = {
        "test_t001_a.py": "import json\nfrom shop.cart import total\n",
        "test_t002_b.py": "import shop.cart\n",
        "test_t003_c.py": "import pytest\nfrom shop import prices\n",
    }
    [shared] = graph_of(plan, tests).shared
    assert (shared.name, shared.tasks) == ("shop.cart", ("T-001", "T-002"))
    said = "warning: T-001, T-002 touch shop.cart and do not depend on each other"
    assert said in graph_lines(graph_of(plan, tests))


def test_a_file_that_two_texts_name_is_warned_of_as_its_module_is() -> None:
    plan = Plan(tasks=(task(1, text="Change shop/cart.py first."), task(2)))
    tests = {"test_t002_b.py": "import shop.cart\n"}
    assert [each.name for each in graph_of(plan, tests).shared] == ["shop.cart"]


def test_what_a_task_shares_with_one_it_depends_on_is_no_matter() -> None:
    plan = Plan(tasks=(task(1, text="a.py"), task(2, 1, text="a.py")))
    assert graph_of(plan, {}).shared == ()


def test_a_test_that_does_not_parse_tells_nothing() -> None:
    plan = Plan(tasks=(task(1), task(2)))
    assert graph_of(plan, {"test_t001_a.py": "def (", "test_t002_b.py": "import a"}).shared == ()

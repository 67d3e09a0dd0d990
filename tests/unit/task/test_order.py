"""The order of several tasks at once: who may start, whose turn it is to land, who gives up."""

from __future__ import annotations

import random

import pytest

from tilth.contract.prd import Plan, Status, Task
from tilth.task.order import (
    failures,
    given_up,
    levels,
    longest_path,
    may_start,
    next_to_land,
    working_order,
)

P, W, E, A, D, F = (
    Status.PENDING,
    Status.IN_PROGRESS,
    Status.PENDING_EVAL,
    Status.ACCEPTED,
    Status.DONE,
    Status.FAILED,
)


def plan_of(*states: Status, **depends: str) -> Plan:
    """Give tasks in these states; `T3="1 2"` has the third depend on the first two."""
    tasks = [
        Task(
            id=f"T-{number:03d}",
            title="t",
            description="d",
            acceptance_criteria=("a",),
            status=state,
            depends_on=tuple(f"T-{int(n):03d}" for n in depends.get(f"T{number}", "").split()),
        )
        for number, state in enumerate(states, start=1)
    ]
    return Plan(tasks=tuple(tasks))


def numbers(tasks: object) -> list[int]:
    return [int(task.id[2:]) for task in tasks]  # type: ignore[attr-defined]


def test_one_job_works_in_file_order_where_nothing_depends() -> None:
    assert numbers(working_order(plan_of(P, P, P))) == [1, 2, 3]


def test_a_task_that_depends_on_a_later_one_comes_after_it() -> None:
    assert numbers(working_order(plan_of(P, P, P, T1="3"))) == [2, 3, 1]


def test_what_waits_for_a_failed_task_gives_up_its_turn_with_it() -> None:
    plan = plan_of(F, P, P, A, T2="1", T3="2")
    assert given_up(plan) == {"T-001", "T-002", "T-003"}
    assert next_to_land(plan, halts=False) == plan.task("T-004")


def test_nobody_lands_before_those_whose_turn_comes_first() -> None:
    assert next_to_land(plan_of(W, A, A), halts=False) is None
    assert next_to_land(plan_of(P, A, A), halts=False) is None
    landed = plan_of(D, A, A)
    assert next_to_land(landed, halts=False) == landed.task("T-002")


def test_a_failure_that_halts_keeps_all_behind_it_from_landing_and_starting() -> None:
    plan = plan_of(A, F, A, P)
    assert next_to_land(plan, halts=True) == plan.task("T-001")
    assert may_start(plan, (), halts=True) == ()
    landed = plan_of(D, F, A, P)
    assert next_to_land(landed, halts=True) is None
    assert next_to_land(landed, halts=False) == landed.task("T-003")


def test_those_before_a_failure_that_halts_start_as_ever() -> None:
    assert numbers(may_start(plan_of(P, F, P), (), halts=True)) == [1]


def test_what_is_under_way_goes_on_behind_a_failure_too() -> None:
    assert numbers(may_start(plan_of(F, W, P), (), halts=True)) == [2]


def test_a_refused_landing_takes_the_next_lane_before_anything_new() -> None:
    assert numbers(may_start(plan_of(P, P, W), (), halts=False)) == [3, 1, 2]


def test_a_task_starts_once_all_it_depends_on_is_done_and_not_before() -> None:
    plan = plan_of(D, A, P, P, T3="1", T4="1 2")
    assert numbers(may_start(plan, (), halts=False)) == [3]


def test_what_is_busy_is_not_started_again() -> None:
    assert numbers(may_start(plan_of(W, P), {"T-001"}, halts=False)) == [2]


def test_failures_are_named_in_the_order_of_one_job() -> None:
    assert numbers(failures(plan_of(F, D, F, T1="2"))) == [1, 3]
    assert numbers(failures(plan_of(F, F, D, T1="2"))) == [2, 1]


def test_the_graph_is_told_by_its_levels_and_its_longest_path() -> None:
    plan = plan_of(P, P, P, P, P, T2="1", T3="1", T4="2 3")
    assert [numbers(level) for level in levels(plan)] == [[1, 5], [2, 3], [4]]
    assert numbers(longest_path(plan)) == [1, 2, 4]


@pytest.mark.parametrize("seed", range(40))
def test_whatever_the_timing_tasks_land_in_the_order_of_one_job(seed: int) -> None:
    """Play plans with lanes that end in any order, with failures and refused landings."""
    chance = random.Random(seed)
    count = chance.randint(2, 12)
    depends = {f"T{n}": _below(chance, n) for n in range(2, count + 1)}
    doomed = {f"T-{n:03d}" for n in range(1, count + 1) if chance.random() < 0.15}
    halts = chance.random() < 0.5
    start = plan_of(*[P] * count, **depends)
    landed = {_play(start, doomed, jobs, chance, halts=halts) for jobs in (1, 2, 3, 5, 16)}
    assert len(landed) == 1


def _below(chance: random.Random, number: int) -> str:
    return " ".join(str(n) for n in range(1, number) if chance.random() < 0.25)


def _play(
    plan: Plan, doomed: set[str], jobs: int, chance: random.Random, *, halts: bool
) -> tuple[str, ...]:
    busy: list[str] = []
    landed: list[str] = []
    refused: set[str] = set()
    while True:
        due = next_to_land(plan, halts=halts)
        if due is not None and due.id not in refused and chance.random() < 0.3:
            refused.add(due.id)
            plan = plan.replaced(due.moved(W))
        elif due is not None:
            landed.append(due.id)
            plan = plan.replaced(due.moved(D))
            continue
        for task in may_start(plan, busy, halts=halts)[: jobs - len(busy)]:
            busy.append(task.id)
            plan = plan.replaced(task if task.status is W else task.moved(W))
        if not busy:
            return tuple(landed)
        ended = busy.pop(chance.randrange(len(busy)))
        task = plan.task(ended)
        assert task is not None
        ends = F if ended in doomed and ended not in refused else A
        plan = plan.replaced(task.moved(F) if ends is F else task.moved(E).moved(A))

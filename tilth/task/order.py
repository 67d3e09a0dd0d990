"""The order of several tasks at once: which may start, whose turn it is to land, who gives up.

Pure, on the plan alone. One job would work in `working_order`; with several, tasks start in it and
land in it, so that what a session comes to depends on the answers and never on timing.
"""

from __future__ import annotations

from collections.abc import Collection

from tilth.contract.prd import Plan, Status, Task

_OPEN = (Status.IN_PROGRESS, Status.PENDING_EVAL)


def working_order(plan: Plan) -> tuple[Task, ...]:
    """Give the tasks that are not done in the order in which one job would work on them.

    Each is taken to come out well: one that fails leaves the order of the others as it was.
    """
    done = {task.id for task in plan.with_status(Status.DONE)}
    left = [task for task in plan.tasks if task.id not in done]
    order: list[Task] = []
    while left:
        ready = next((task for task in left if done.issuperset(task.depends_on)), None)
        if ready is None:
            break
        left.remove(ready)
        done.add(ready.id)
        order.append(ready)
    return tuple(order)


def given_up(plan: Plan) -> frozenset[str]:
    """Name the tasks that give up their turn: those that failed, and all that wait for one."""
    failed = {task.id for task in plan.with_status(Status.FAILED)}
    waiting = (task for task in plan.tasks if task.status is not Status.DONE)
    behind = {t.id for t in waiting if any(up.id in failed for up in plan.upstream_of(t))}
    return frozenset(failed | behind)


def may_start(plan: Plan, busy: Collection[str], *, halts: bool) -> tuple[Task, ...]:
    """Give the tasks that a free lane may take, the one to take first at the front.

    One that has begun, and whose landing was refused or whose run was interrupted, comes first. If
    failures halt the run, none behind a failed task is begun.
    """
    order = working_order(plan)
    begun = [task for task in order if task.status in _OPEN and task.id not in busy]
    done = {task.id for task in plan.with_status(Status.DONE)}
    fresh = [
        task
        for task in (_before_failure(order) if halts else order)
        if task.status is Status.PENDING
        and task.id not in busy
        and done.issuperset(task.depends_on)
    ]
    return (*begun, *fresh)


def next_to_land(plan: Plan, *, halts: bool) -> Task | None:
    """Give the accepted task whose turn it is, or None while another's is not over."""
    order = working_order(plan)
    passed = given_up(plan)
    for task in _before_failure(order) if halts else order:
        if task.id in passed:
            continue
        return task if task.status is Status.ACCEPTED else None
    return None


def failures(plan: Plan) -> tuple[Task, ...]:
    """Give the failed tasks, the one first that one job would have come to first."""
    return tuple(task for task in working_order(plan) if task.status is Status.FAILED)


def _before_failure(order: tuple[Task, ...]) -> tuple[Task, ...]:
    # What a person has given up halts nothing.
    failed = (at for at, t in enumerate(order) if t.status is Status.FAILED and not t.dropped)
    return order[: next(failed, len(order))]


def levels(plan: Plan) -> tuple[tuple[Task, ...], ...]:
    """Sort the tasks by the longest way to them: each level needs only those above it."""
    depth: dict[str, int] = {}
    for task in _in_order(plan):
        depth[task.id] = 1 + max((depth[each] for each in task.depends_on), default=0)
    deepest = max(depth.values(), default=0)
    return tuple(
        tuple(task for task in plan.tasks if depth[task.id] == level)
        for level in range(1, deepest + 1)
    )


def longest_path(plan: Plan) -> tuple[Task, ...]:
    """Give the longest row of tasks of which each depends on the one before it."""
    rows: dict[str, tuple[Task, ...]] = {}
    for task in _in_order(plan):
        above = [rows[each] for each in task.depends_on]
        rows[task.id] = (*max(above, key=len, default=()), task)
    return max(rows.values(), key=len, default=())


def _in_order(plan: Plan) -> tuple[Task, ...]:
    """Give all tasks so that each comes after what it depends on."""
    unstarted = tuple(t.model_copy(update={"status": Status.PENDING}) for t in plan.tasks)
    return working_order(plan.model_copy(update={"tasks": unstarted}))

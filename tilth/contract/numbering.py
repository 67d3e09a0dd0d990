"""Numbering: a PRD whose ids an earlier one has used up, and the same one under free ids. Pure.

An id is taken when a landed commit's trailer names it. Tests that merely stand in the repository
may be a task's own, so they take no id; but no new id is one for which tests stand there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from tilth.contract.prd import Plan, Status, Task

_TEST = re.compile(r"tests/test_t([0-9]{3,})_")
_ID = re.compile(r"T-([0-9]{3,})")


@dataclass(frozen=True)
class Renumbered:
    """Hold a plan and its tests under new ids, and which id became which."""

    plan: Plan
    tests: Mapping[str, bytes]
    ids: Mapping[str, str]


def taken_ids(plan: Plan, landed: Collection[str]) -> tuple[str, ...]:
    """Name the tasks of a plan whose ids have landed before; one that arrives done is none."""
    return tuple(t.id for t in plan.tasks if t.id in landed and t.status is not Status.DONE)


def first_free_id(files: Iterable[str], landed: Iterable[str] = ()) -> str:
    """Give the first id above all that have landed and every seed test in the repository."""
    return _id(_highest(files, landed) + 1)


def renumbered(
    plan: Plan, tests: Mapping[str, bytes], files: Collection[str], landed: Collection[str]
) -> Renumbered:
    """Number a plan's tasks on from what is there; one whose tests stand there keeps its id."""
    kept = [task.id for task in plan.tasks if task.id not in landed and _stands(task, files)]
    highest = _highest(files, (*landed, *kept))
    moving = [task for task in plan.tasks if task.id not in kept]
    ids = {task.id: _id(highest + at) for at, task in enumerate(moving, start=1)}
    tasks = tuple(_under(task, ids) for task in plan.tasks)
    named = {_name(name, plan, ids): text for name, text in tests.items()}
    return Renumbered(plan.model_copy(update={"tasks": tasks}), named, ids)


def _stands(task: Task, files: Iterable[str]) -> bool:
    return any(
        path.startswith("tests/") and task.owns_test(path[len("tests/") :]) for path in files
    )


def _highest(files: Iterable[str], ids: Iterable[str]) -> int:
    found = [*map(_TEST.match, files), *map(_ID.fullmatch, ids)]
    return max((int(match[1]) for match in found if match), default=0)


def _id(number: int) -> str:
    return f"T-{number:03d}"


def _under(task: Task, ids: Mapping[str, str]) -> Task:
    if task.id not in ids and not any(each in ids for each in task.depends_on):
        return task
    changes: dict[str, object] = {"depends_on": tuple(ids.get(i, i) for i in task.depends_on)}
    if task.id in ids:
        changes |= {"id": ids[task.id], "source_id": task.source_id or task.id}
    return task.model_copy(update=changes)


def _name(name: str, plan: Plan, ids: Mapping[str, str]) -> str:
    owner = next((task for task in plan.tasks if task.owns_test(name)), None)
    if owner is None or owner.id not in ids:
        return name
    moved = owner.model_copy(update={"id": ids[owner.id]})
    return f"{moved.test_prefix}{name[len(owner.test_prefix) :]}"

"""The plan: tasks, how they stand, and which one comes next.

Reads a PRD in Tilth's own shape or in the `userStories` shape of other loops, and refuses a bad one
with every problem at once. Never reads a file and never writes one.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Literal

from pydantic import Field, model_validator

from tilth.base.errors import BadPlan
from tilth.base.safe_text import is_blank
from tilth.base.values import Value
from tilth.contract.status import LEGAL_MOVES, Status, held_in

__all__ = ("LEGAL_MOVES", "TASK_ID", "Plan", "Status", "Task", "parse_plan")

TASK_ID = re.compile(r"^T-[0-9]{3,}$")
# Files, refs and tests are named by it: one that is longer than a name may be is refused here.
_LONGEST_ID = 32


class Task(Value):
    """Hold one task: what was asked for, and what the harness keeps about it."""

    id: str = Field(pattern=TASK_ID.pattern)
    title: str
    description: str
    acceptance_criteria: tuple[str, ...]
    depends_on: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    reviewer: str | None = None
    source_id: str | None = None
    status: Status = Status.PENDING
    rescue_count: int = 0
    agent: str | None = None
    score: int | None = None
    quality_flag: Literal["below-bar"] | None = None
    commit: str | None = None
    summary: str | None = None
    # Which time it is worked on: a done task that a person sends back begins its second round.
    round: int = Field(default=1, ge=1)
    # What was in the branch when its change was merged with it: it stands on these, too.
    merged_with: tuple[str, ...] = ()
    # A person has given it up.
    dropped: bool = False

    @property
    def sent_back(self) -> bool:
        """Tell whether it was done once and is to be done again."""
        return self.round > 1 and self.status is not Status.DONE

    @property
    def test_prefix(self) -> str:
        """Give what every seed test file of this task starts with."""
        return f"test_{self.id.lower().replace('-', '')}_"

    def owns_test(self, name: str) -> bool:
        """Tell whether a file name in tests/ is a seed test of this task."""
        return name.startswith(self.test_prefix) and name.endswith(".py")

    def moved(self, to: Status, **changes: Any) -> Task:
        """Give the task in its next status; an illegal move is a fault of the caller."""
        if to not in LEGAL_MOVES[self.status]:
            raise ValueError(f"{self.id} cannot move from {self.status} to {to}")
        return self.model_copy(update={"status": to, "dropped": False, **changes})

    def unstarted(self) -> Task:
        """Give the task as it was asked for, without what the harness keeps about it."""
        return Task.model_validate(self.model_dump(include={*_AUTHORED, "source_id"}))


class Plan(Value):
    """Hold all tasks in file order."""

    version: Literal[1] = 1
    feature: str | None = None
    tasks: tuple[Task, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Plan:
        if len({task.id for task in self.tasks}) < len(self.tasks):
            raise ValueError("two tasks have the same id")
        return self

    def task(self, task_id: str) -> Task | None:
        return next((task for task in self.tasks if task.id == task_id), None)

    def replaced(self, task: Task) -> Plan:
        """Give the plan with one task in its new state."""
        tasks = tuple(task if old.id == task.id else old for old in self.tasks)
        return self.model_copy(update={"tasks": tasks})

    def with_status(self, *wanted: Status) -> tuple[Task, ...]:
        return tuple(task for task in self.tasks if task.status in wanted)

    @property
    def settled(self) -> frozenset[str]:
        """Name the tasks of which nothing is asked any more: done, or given up by a person."""
        return frozenset(t.id for t in self.tasks if t.status is Status.DONE or t.dropped)

    @property
    def held(self) -> frozenset[str]:
        """Name the tasks no resume can work on: those a person gave up, and all that need one."""
        return held_in(self.tasks)

    def next_pending(self) -> Task | None:
        """Give the first pending task in file order whose dependencies are all done."""
        done = {task.id for task in self.with_status(Status.DONE)}
        for task in self.with_status(Status.PENDING):
            if done.issuperset(task.depends_on):
                return task
        return None

    def upstream_of(self, task: Task) -> tuple[Task, ...]:
        """Give the tasks a task depends on, directly or through others, in file order."""
        below = self._reached_from(task, lambda each: each.depends_on)
        return tuple(item for item in self.tasks if item.id in below)

    def in_base_of(self, task: Task) -> frozenset[str]:
        """Name the tasks whose work a task begins with: those it depends on or was merged with."""
        return self._reached_from(task, lambda each: (*each.depends_on, *each.merged_with))

    def _reached_from(
        self, task: Task, next_to: Callable[[Task], tuple[str, ...]]
    ) -> frozenset[str]:
        """Name the tasks that steps from one lead to, itself left out."""
        found: set[str] = set()
        waiting = [*next_to(task)]
        while waiting:
            item = self.task(waiting.pop())
            if item is not None and item.id not in found:
                found.add(item.id)
                waiting += next_to(item)
        return frozenset(found - {task.id})

    def untested(self, tests: Collection[str]) -> tuple[str, ...]:
        """Give the ids of the open tasks that none of these test files belongs to."""
        return tuple(
            task.id
            for task in self.tasks
            if task.status is not Status.DONE and not any(map(task.owns_test, tests))
        )

    def builds_on_sent_back(self, task: Task) -> tuple[str, ...]:
        """Name the tasks, near or far, whose work a done task builds on and a person sent back."""
        if task.status is not Status.DONE:
            return ()
        return tuple(each.id for each in self.upstream_of(task) if each.sent_back)

    @property
    def all_done(self) -> bool:
        return all(task.status is Status.DONE for task in self.tasks)


_AUTHORED = (
    "id",
    "title",
    "description",
    "acceptance_criteria",
    "depends_on",
    "may_change",
    "reviewer",
)


def parse_plan(document: Any, source: str) -> Plan:
    """Read an authored PRD, raising BadPlan with every problem it has."""
    kept: list[dict[str, Any]] = []
    if isinstance(document, dict) and "userStories" in document:
        document, kept = _from_user_stories(document, source)
    entries, feature, problems = _entries(document)
    tasks = [_read_task(entry, f"tasks[{i}]", problems) for i, entry in enumerate(entries)]
    _check_ids(tasks, problems)
    _check_dependencies(tasks, problems)
    if problems:
        raise BadPlan(source, problems)
    for task, state in zip(tasks, kept, strict=False):
        task.update(state)
    return Plan(feature=feature, tasks=tuple(Task.model_validate(task) for task in tasks))


def _entries(document: Any) -> tuple[list[Any], str | None, list[str]]:
    problems: list[str] = []
    feature: str | None = None
    entries = document
    if isinstance(document, dict):
        if document.get("version", 1) != 1 or isinstance(document.get("version"), bool):
            problems.append(f"version: must be 1, got {document['version']!r}")
        if document.get("feature") is not None and not isinstance(document["feature"], str):
            problems.append(f"feature: must be a string, got {_kind(document['feature'])}")
        else:
            feature = document.get("feature")
        entries = document.get("tasks")
        if entries is None:
            return [], feature, [*problems, "tasks: missing; a PRD needs a list of tasks"]
    if not isinstance(entries, list):
        where = "tasks: " if isinstance(document, dict) else ""
        shape = 'must be a list of tasks or an object with "tasks"'
        return [], feature, [*problems, f"{where}{shape}, got {_kind(entries)}"]
    if not entries:
        problems.append("tasks: must hold at least one task")
    return entries, feature, problems


def _read_task(entry: Any, where: str, problems: list[str]) -> dict[str, Any]:
    if not isinstance(entry, dict):
        problems.append(f"{where}: must be an object, got {_kind(entry)}")
        return {}
    task: dict[str, Any] = {"id": _read_id(entry, where, problems)}
    for field in ("title", "description"):
        task[field] = _read_text(entry, field, where, problems)
    task["acceptance_criteria"] = _read_texts(
        entry, "acceptance_criteria", where, problems, required=True
    )
    for field in ("depends_on", "may_change"):
        task[field] = _read_texts(entry, field, where, problems, required=False)
    if entry.get("reviewer") is not None:
        task["reviewer"] = _read_text(entry, "reviewer", where, problems)
    for name in sorted(set(entry) - set(Task.model_fields), key=str):
        near = difflib.get_close_matches(str(name), _AUTHORED, n=1, cutoff=0.8)
        if near:
            problems.append(f"{where}.{name}: unknown field; did you mean {near[0]}?")
    return task


def _read_id(entry: dict[str, Any], where: str, problems: list[str]) -> str | None:
    value = entry.get("id")
    if isinstance(value, str) and TASK_ID.fullmatch(value):
        if len(value) > _LONGEST_ID:
            problems.append(f"{where}.id: is longer than {_LONGEST_ID} characters")
        return value
    got = "nothing" if "id" not in entry else repr(value)
    problems.append(f"{where}.id: must be T- and at least three digits, got {got}")
    return None


def _read_text(entry: dict[str, Any], field: str, where: str, problems: list[str]) -> str | None:
    value = entry.get(field)
    if isinstance(value, str) and not is_blank(value) and _writable(value):
        return value
    if isinstance(value, str):
        fault = "is empty" if is_blank(value) else "holds characters that are not text"
        problems.append(f"{where}.{field}: must be a non-empty string, but it {fault}")
    else:
        got = "nothing" if field not in entry else _kind(value)
        problems.append(f"{where}.{field}: must be a non-empty string, got {got}")
    return None


def _writable(text: str) -> bool:
    return not any(0xD800 <= ord(char) <= 0xDFFF for char in text)


def _read_texts(
    entry: dict[str, Any], field: str, where: str, problems: list[str], *, required: bool
) -> list[str]:
    value = entry.get(field)
    if value is None and not required:
        return []
    if not isinstance(value, list):
        got = "nothing" if field not in entry else _kind(value)
        problems.append(f"{where}.{field}: must be a list of strings, got {got}")
        return []
    if required and not value:
        problems.append(f"{where}.{field}: must hold at least one entry")
    for i, item in enumerate(value):
        if not isinstance(item, str) or is_blank(item) or not _writable(item):
            got = repr(item) if isinstance(item, str) else _kind(item)
            problems.append(f"{where}.{field}[{i}]: must be a non-empty string, got {got}")
    return [item for item in value if isinstance(item, str)]


def _check_ids(tasks: Iterable[dict[str, Any]], problems: list[str]) -> None:
    seen: dict[str, int] = {}
    for i, task in enumerate(tasks):
        task_id = task.get("id")
        if task_id is None:
            continue
        if task_id in seen:
            problems.append(f"tasks[{i}].id: {task_id} is already used by tasks[{seen[task_id]}]")
        seen.setdefault(task_id, i)


def _check_dependencies(tasks: list[dict[str, Any]], problems: list[str]) -> None:
    known = {task["id"] for task in tasks if task.get("id")}
    edges: dict[str, list[str]] = {}
    for i, task in enumerate(tasks):
        for wanted in task.get("depends_on", ()):
            if wanted == task.get("id"):
                problems.append(f"tasks[{i}].depends_on: {wanted} depends on itself")
            elif wanted not in known:
                problems.append(f"tasks[{i}].depends_on: {wanted!r} is not a task of this PRD")
            elif task.get("id"):
                edges.setdefault(task["id"], []).append(wanted)
    cycle = _find_cycle(edges)
    if cycle:
        problems.append(f"depends_on: tasks wait for each other: {' -> '.join(cycle)}")


def _find_cycle(edges: dict[str, list[str]]) -> list[str]:
    settled: set[str] = set()
    for start in edges:
        path: list[str] = []
        stack: list[tuple[str, Iterator[str]]] = [(start, iter(edges.get(start, ())))]
        path.append(start)
        while stack:
            node, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                settled.add(node)
                stack.pop()
                path.pop()
            elif target in path:
                return [*path[path.index(target) :], target]
            elif target not in settled:
                path.append(target)
                stack.append((target, iter(edges.get(target, ()))))
    return []


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    if value is None:
        return "null"
    return names.get(type(value), "a number")


def _from_user_stories(
    document: dict[str, Any], source: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    stories = document["userStories"]
    problems: list[str] = []
    if not isinstance(stories, list) or not stories:
        raise BadPlan(source, ["userStories: must be a list of at least one story"])
    for i, story in enumerate(stories):
        _check_story(story, f"userStories[{i}]", problems)
    if problems:
        raise BadPlan(source, problems)
    order = sorted(range(len(stories)), key=lambda i: (_priority(stories[i]), i))
    feature = document.get("description") or document.get("project")
    tasks = [_story_task(stories[i], number) for number, i in enumerate(order, start=1)]
    kept = [_story_state(stories[i]) for i in order]
    return {"feature": feature if isinstance(feature, str) else None, "tasks": tasks}, kept


def _check_story(story: Any, where: str, problems: list[str]) -> None:
    if not isinstance(story, dict):
        problems.append(f"{where}: must be an object, got {_kind(story)}")
        return
    if not isinstance(story.get("id"), str | int) or isinstance(story.get("id"), bool):
        problems.append(f"{where}.id: must be a string, got {_kind(story.get('id'))}")
    for field in ("title", "description"):
        _read_text(story, field, where, problems)
    _read_texts(story, "acceptanceCriteria", where, problems, required=True)
    priority = story.get("priority", 0)
    if isinstance(priority, bool) or not isinstance(priority, int | float):
        problems.append(f"{where}.priority: must be a number, got {_kind(priority)}")
    if not isinstance(story.get("passes", False), bool):
        problems.append(f"{where}.passes: must be true or false, got {_kind(story['passes'])}")


def _priority(story: dict[str, Any]) -> int | float:
    # A story without a priority comes after those that have one. A whole number may be too large
    # for a float, so it is compared as it is.
    priority: int | float = story.get("priority", float("inf"))
    return priority


def _story_task(story: dict[str, Any], number: int) -> dict[str, Any]:
    return {
        "id": f"T-{number:03d}",
        "title": story["title"],
        "description": story["description"],
        "acceptance_criteria": story["acceptanceCriteria"],
    }


def _story_state(story: dict[str, Any]) -> dict[str, Any]:
    status = Status.DONE if story.get("passes") else Status.PENDING
    return {"source_id": str(story["id"]), "status": status}

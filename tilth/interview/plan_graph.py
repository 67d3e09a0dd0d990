"""The plan's graph: how many of its tasks could be worked on at once, and which may collide.

Pure: from a plan and its seed tests to values and lines. What two tasks touch is told by what their
tests import and which files their texts name; it is a hint, not a proof.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping

from tilth.base.quiet import parse_quietly
from tilth.base.safe_text import one_line
from tilth.base.values import Value
from tilth.contract.prd import Plan, Task
from tilth.task.order import levels, longest_path

_FILE = re.compile(r"(?<![\w/.])[\w./-]*\w\.(?:py|toml|md|txt|js|ts|go|rs|json|ya?ml|cfg)\b")
_COMMON = frozenset(sys.stdlib_module_names) | {"pytest"}
_MOST_SHARED = 5
_MOST_NAMED = 8


class Shared(Value):
    """Name what tasks touch that do not depend on each other."""

    name: str
    tasks: tuple[str, ...]


class PlanGraph(Value):
    """Hold the shape of a plan: its levels, its longest path, and what its tasks may collide in."""

    levels: tuple[tuple[str, ...], ...]
    longest_path: tuple[str, ...]
    jobs: int
    shared: tuple[Shared, ...] = ()


def graph_of(plan: Plan, tests: Mapping[str, str]) -> PlanGraph:
    """Describe a plan's graph."""
    rows = tuple(tuple(task.id for task in level) for level in levels(plan))
    return PlanGraph(
        levels=rows,
        longest_path=tuple(task.id for task in longest_path(plan)),
        jobs=max((len(row) for row in rows), default=1),
        shared=tuple(_shared(plan, tests)),
    )


def graph_lines(graph: PlanGraph) -> Iterator[str]:
    """Say it to a person; a plan of one task has no shape to tell of."""
    if sum(len(level) for level in graph.levels) < 2:
        return
    shape = " | ".join(_named(level) for level in graph.levels)
    count = len(graph.levels)
    yield f"graph: {count} level{'' if count == 1 else 's'}: {shape}"
    if count > 1:
        yield f"longest path: {' -> '.join(graph.longest_path)}"
    most = f"up to {graph.jobs} jobs" if graph.jobs > 1 else "one job: each task waits for another"
    yield f"at once: {most}"
    for shared in graph.shared[:_MOST_SHARED]:
        tasks = _named(shared.tasks, ", ")
        yield f"warning: {tasks} touch {one_line(shared.name, 60)} and do not depend on each other"
    if len(graph.shared) > _MOST_SHARED:
        yield f"warning: and {len(graph.shared) - _MOST_SHARED} more"


def _named(ids: tuple[str, ...], between: str = " ") -> str:
    more = f"{between}and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return f"{between.join(ids[:_MOST_NAMED])}{more}"


def _shared(plan: Plan, tests: Mapping[str, str]) -> Iterator[Shared]:
    touched: dict[str, list[Task]] = {}
    for task in plan.tasks:
        own = [text for name, text in tests.items() if task.owns_test(name)]
        for name in sorted(_touched(task, own)):
            touched.setdefault(name, []).append(task)
    above = {task.id: {each.id for each in plan.upstream_of(task)} for task in plan.tasks}
    for name, tasks in sorted(touched.items()):
        apart = [task.id for task in tasks if any(_apart(task, other, above) for other in tasks)]
        if apart:
            yield Shared(name=name, tasks=tuple(apart))


def _apart(task: Task, other: Task, above: Mapping[str, set[str]]) -> bool:
    related = task.id in above[other.id] or other.id in above[task.id]
    return task.id != other.id and not related


def _touched(task: Task, tests: list[str]) -> set[str]:
    texts = (task.title, task.description, *task.acceptance_criteria)
    named = {found for text in texts for found in _FILE.findall(text)}
    modules = {name for text in tests for name in _imported(text)}
    # A module and its file are one thing; the test's own helpers are not the task's.
    return {name.removesuffix(".py").replace("/", ".") for name in named} | modules


def _imported(text: str) -> Iterator[str]:
    """Name the modules a test imports from, but for those of every Python."""
    try:
        tree = parse_quietly(text)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        yield from (name for name in names if name.partition(".")[0] not in _COMMON)

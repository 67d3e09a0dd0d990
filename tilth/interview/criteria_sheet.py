"""The criteria sheet: acceptance criteria as a text that a person can change in an editor.

Pure: tasks to text and back. A line that begins with `#` is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tilth.base.errors import UserError
from tilth.interview.approval import SheetTask
from tilth.interview.person_text import person_text

_HEAD = re.compile(r"(T-[0-9]{3,})(?:[ \t]+(.*))?")
_REMARKS = (
    "# Change the criteria: one a line that begins with `- `; further lines belong to it.",
    "# What you save goes to the seeder, which fits the tests to it and shows you the result.",
    "# Take a task out by deleting it, add one under a number of its own. Nothing left: no change.",
    "# Lines like this one are left out.",
)


def write_sheet(tasks: Iterable[SheetTask]) -> str:
    """Write the criteria of a plan as an editable text."""
    blocks = ["\n".join(_REMARKS)]
    for task in tasks:
        items = (_item(criterion) for criterion in task.criteria)
        blocks.append("\n".join([f"{task.id} {_flat(task.title)}", *items]))
    return "\n\n".join(blocks) + "\n"


def read_sheet(text: str) -> tuple[SheetTask, ...]:
    """Read a sheet, or raise UserError with the line that cannot be read; empty: nothing left."""
    tasks: list[tuple[str, str, list[str]]] = []
    for number, line in enumerate(person_text(text).splitlines(), start=1):
        stripped = line.strip()
        if not stripped or line.startswith("#"):
            continue
        # What is indented belongs to the criterion above, whatever it looks like.
        inside = line[0].isspace() and bool(tasks) and bool(tasks[-1][2])
        head = None if inside else _HEAD.fullmatch(stripped)
        if head is not None:
            tasks.append((head[1], head[2] or "", []))
        elif not tasks:
            raise UserError(f"line {number} stands before the first task: begin with `T-001 Title`")
        elif stripped.startswith("-") and not inside:
            tasks[-1][2].append(stripped[1:].strip())
        elif tasks[-1][2]:
            tasks[-1][2][-1] += f"\n{stripped}"
        else:
            raise UserError(f"line {number} is no criterion: begin it with `- `")
    return tuple(_checked(*task) for task in tasks)


def _checked(task_id: str, title: str, items: list[str]) -> SheetTask:
    criteria = tuple(item for item in items if item.strip())
    if not criteria:
        raise UserError(f"{task_id} has no criterion: give it one, or delete the task")
    return SheetTask(id=task_id, title=title, criteria=criteria)


def same_sheet(one: Iterable[SheetTask], other: Iterable[SheetTask]) -> bool:
    """Tell whether two sheets say the same, however their lines are broken."""
    return [_loose(task) for task in one] == [_loose(task) for task in other]


def _loose(task: SheetTask) -> tuple[str, ...]:
    return (task.id, _flat(task.title), *map(_flat, task.criteria))


def _flat(text: str) -> str:
    return " ".join(person_text(text).split())


def _item(criterion: str) -> str:
    lines = [line.strip() for line in person_text(criterion).splitlines() if line.strip()]
    return "- " + "\n  ".join(lines)

"""What steers a gate and was changed all the same: by permission, earlier, or for later sessions.

The overlay puts back what a task may not change. The rest is named here: to the evaluator, who
judges by what that gate says, and to the person. It refuses nothing and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from posixpath import basename, normpath

from tilth.config.project import PYPROJECT, TILTH_TOML, NamedValidator
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.config_sections import differ
from tilth.gate.findings import Steering
from tilth.gate.overlay import DID, STOOD_ON, Trees, role_of
from tilth.gate.steering import is_test_file, may_change
from tilth.gate.tampering import shortened
from tilth.git.changes import Change

_BETWEEN = re.compile(r"[\s;|&()<>'\"`=:]+")
_NODE = frozenset({"npm", "npx", "yarn", "pnpm", "bun"})
_OWN = re.compile(r"tool\.tilth")
_LATER = (
    "it says what the gates of later sessions run (validators, defaults, set-up commands), and "
    "this session goes by what it began with"
)


def steering_of(trees: Trees, task: Task, validators: Iterable[NamedValidator]) -> Steering:
    """Say what one change does to the gates it is proven by, and to those of later sessions."""
    own = " by permission of the plan, and the gate ran with it"

    def by(path: str) -> str:
        return own if may_change(path, task.may_change) else ""

    found = _named(trees, tuple(validators), by, later=True)
    notes = [note for said in found.values() for note in said]
    return Steering(files=tuple(found), notes=shortened(notes))


def earlier_steering(trees: Trees, plan: Plan, validators: Iterable[NamedValidator]) -> Steering:
    """Say what of the gate this session's earlier tasks have changed before a task began."""
    done = plan.with_status(Status.DONE)

    def by(path: str) -> str:
        ids = ", ".join(task.id for task in done if may_change(path, task.may_change))
        whom = f"by permission ({ids})" if ids else "though no task had permission"
        return f" earlier in this session, {whom}, and the gate of this task ran with that"

    found = _named(trees, tuple(validators), by, later=False)
    notes = [note for said in found.values() for note in said[:1]]
    return Steering(earlier=tuple(found), notes=shortened(notes))


def _named(
    trees: Trees, validators: tuple[NamedValidator, ...], by: Callable[[str], str], *, later: bool
) -> dict[str, list[str]]:
    """Say of each changed file what it is to a gate; `by` says whose doing it is, if not undone."""
    found = {}
    for change in trees.changes:
        path, whose = change.path, by(change.path)
        users = [f"`{each.name}`" for each in validators if _goes_by(each.command, path)]
        is_own = later and path in (PYPROJECT, TILTH_TOML) and _is_changed(change, trees)
        role = role_of(change, trees) if whose else None
        roles = (
            None if role == STOOD_ON and is_test_file(path) else role,
            f"the validator {', '.join(users)} runs it or goes by it" if users else None,
            _LATER if is_own else None,
        )
        if said := [
            f"{path}: {role}; it was {DID[change.status]}{whose}" for role in roles if role
        ]:
            found[path] = said
    return found


def _is_changed(change: Change, trees: Trees) -> bool:
    return change.path == TILTH_TOML or differ(PYPROJECT, *trees.read(change), _OWN)


def _goes_by(command: Iterable[str], path: str) -> bool:
    """Tell whether a command names a file or its module, or a runner the file is named after."""
    words = {normpath(word) for whole in command for word in _BETWEEN.split(whole) if word}
    where, _, name = path.rpartition("/")
    module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__main__")
    tools = {basename(word) for word in words}
    if tools & _NODE:
        tools.add("package")
    # make and its Makefile, tox and tox.ini, nox and noxfile.py
    runs = any(len(tool) > 2 and tool in name.partition(".")[0].lower() for tool in tools)
    is_there = not where or where in words
    return bool(words & {path, module.replace("/", ".")}) or (is_there and (runs or name in tools))

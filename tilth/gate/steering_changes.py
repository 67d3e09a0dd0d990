"""What steers a gate and was changed all the same: by permission, earlier, or for later sessions.

The overlay puts back what a task may not change. The rest is named here: to the evaluator, who
judges by what that gate says, and to the person. It refuses nothing and runs nothing.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from tilth.base.errors import BadText
from tilth.base.foreign_text import read_toml
from tilth.config.project import PYPROJECT, TILTH_TOML, NamedValidator
from tilth.contract.prd import Plan, Status, Task
from tilth.gate.config_sections import mended
from tilth.gate.findings import Steering
from tilth.gate.steering import (
    Steers,
    is_beside_tests,
    is_test_file,
    makes_package_of_tests,
    may_change,
    steers,
)
from tilth.gate.tampering import shortened
from tilth.git.changes import Change

Read = Callable[[str], bytes | None]

_BETWEEN = re.compile(r"[\s;|&()<>'\"`=:]+")
_NODE = frozenset({"npm", "npx", "yarn", "pnpm", "bun"})
_DID = {"A": "added", "M": "changed", "D": "deleted", "T": "changed"}


@dataclass(frozen=True)
class Span:
    """Hold how one tree became another, and how to read a file on either side.

    `directories` are those of the first, `shadows` what new modules hide of it.
    """

    changes: tuple[Change, ...]
    before: Read
    after: Read
    directories: frozenset[str] = frozenset()
    shadows: Mapping[str, str] = field(default_factory=dict)

    def read(self, change: Change) -> tuple[bytes | None, bytes | None]:
        return (
            self.before(change.path) if change.status != "A" else None,
            self.after(change.path) if change.status != "D" else None,
        )


def steering_of(span: Span, task: Task, validators: Iterable[NamedValidator]) -> Steering:
    """Say what one change does to the gates it is proven by, and to those of later sessions."""
    named = tuple(validators)
    found: dict[str, list[str]] = {}
    for change in span.changes:
        allowed = may_change(change.path, task.may_change)
        if allowed and (how := _way(change, span)):
            said = f"{how}; it was {_DID[change.status]} by permission of the plan"
            found.setdefault(change.path, []).append(f"{said}, and the gate ran with it")
        for what in (_validator_words(change, named), _own_settings(change, span)):
            if what:
                found.setdefault(change.path, []).append(what)
    notes = shortened([f"{path}: {said}" for path, all_ in found.items() for said in all_])
    return Steering(files=tuple(found), notes=notes)


def earlier_steering(span: Span, plan: Plan, validators: Iterable[NamedValidator]) -> Steering:
    """Say what of the gate this session's earlier tasks have changed before a task began."""
    named = tuple(validators)
    notes, files = [], []
    for change in span.changes:
        how = _way(change, span)
        users = _users(change.path, named)
        if not how and not users:
            continue
        files.append(change.path)
        what = how or f"{users} runs it or goes by it"
        notes.append(
            f"{change.path}: {what}; it was {_DID[change.status]} earlier in this session, "
            f"{_by_whom(change.path, plan)}, and the gate of this task ran with that"
        )
    return Steering(earlier=tuple(files), notes=shortened(notes))


def _way(change: Change, span: Span) -> str | None:
    """Say how a changed file steers the gate of the session at hand, if it does."""
    if change.path in span.shadows:
        return span.shadows[change.path]
    match steers(change.path):
        case Steers.WHOLE:
            return "it steers the gate"
        case Steers.SECTIONS if _sections_differ(change, span):
            return f"{Steers.SECTIONS} steer the gate"
    if not is_beside_tests(change.path):
        return None
    if change.status != "A":
        return None if is_test_file(change.path) else "it stands beside the tests"
    new_package = makes_package_of_tests(change.path, span.directories)
    return "it makes a package of a directory of tests" if new_package else None


def _sections_differ(change: Change, span: Span) -> bool:
    try:
        return mended(PurePosixPath(change.path).name, *span.read(change)) is not None
    except BadText:
        return True


def _by_whom(path: str, plan: Plan) -> str:
    ids = _permitting(path, plan)
    return f"by permission ({', '.join(ids)})" if ids else "though no task had permission"


def _permitting(path: str, plan: Plan) -> list[str]:
    done = plan.with_status(Status.DONE)
    return [task.id for task in done if may_change(path, task.may_change)]


def _users(path: str, validators: tuple[NamedValidator, ...]) -> str:
    names = [each.name for each in validators if _goes_by(each.command, path)]
    kind = "validators" if len(names) > 1 else "validator"
    return f"the {kind} {', '.join(f'`{name}`' for name in names)}" if names else ""


def _goes_by(command: Iterable[str], path: str) -> bool:
    """Tell whether a command names a file or its module, or a runner the file is named after."""
    words = {
        posixpath.normpath(word) for whole in command for word in _BETWEEN.split(whole) if word
    }
    where, _, name = path.rpartition("/")
    module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__main__")
    if not words.isdisjoint({path, module.replace("/", ".")}):
        return True
    if where and where not in words:
        return False
    tools = {posixpath.basename(word) for word in words}
    return (
        name in tools
        or (name == "package.json" and not tools.isdisjoint(_NODE))
        # make and its Makefile, tox and tox.ini, nox and noxfile.py
        or any(len(tool) > 2 and tool in name.partition(".")[0].lower() for tool in tools)
    )


def _validator_words(change: Change, validators: tuple[NamedValidator, ...]) -> str:
    users = _users(change.path, validators)
    if not users:
        return ""
    did = _DID[change.status]
    return f"{users} runs it or goes by it, and it was {did}: its word is worth what that file is"


def _own_settings(change: Change, span: Span) -> str:
    """Say that a change reaches for what Tilth itself reads of a repository."""
    if change.path not in (PYPROJECT, TILTH_TOML):
        return ""
    if change.path == PYPROJECT:
        before, after = span.read(change)
        if _table(before) == _table(after):
            return ""
    what = "it" if change.path == TILTH_TOML else "its [tool.tilth]"
    return (
        f"{what} says what the gates of later sessions run (validators, defaults, set-up commands) "
        f"and was {_DID[change.status]}; this session goes by what it began with"
    )


def _table(content: bytes | None) -> Any:
    try:
        tool = read_toml(content or b"").get("tool")
    except BadText:
        # Whatever it means to say, it differs from everything that can be read.
        return object()
    return tool.get("tilth") if isinstance(tool, dict) else None

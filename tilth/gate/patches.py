"""Patches: what a file of tests changes in the modules it imports, so that other tests see it.

A test that replaces the product's code proves nothing of it, nor do those that run after it. Told
from the syntax tree; what a fixture undoes (`monkeypatch`, a `with`, a decorator) is no patch.
Notes for evaluator and person; nothing is refused here. Pure but for the reading handed in.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from tilth.base.quiet import parse_quietly
from tilth.gate.imported_names import Function, ImportedNames, called, is_imported
from tilth.gate.steering import is_beside_tests, is_test_file
from tilth.gate.tampering import shortened
from tilth.git.changes import Change

_MOST_BYTES = 2_000_000
_SETTING = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "setitem", "delitem"})
_ITEMS = frozenset({"__setitem__", "__delitem__"})
_FROM_TEXT = frozenset({"exec", "eval"})
_MUTATING = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
)
# Of a module: its names, the modules that are loaded, and where they are loaded from.
_TABLES = frozenset({"__dict__", "__globals__", "modules", "meta_path", "path", "path_hooks"})
_UNDOING = frozenset({"undo", "stop", "stopall", "addCleanup", "addfinalizer"})
_Stated = ast.stmt | ast.ExceptHandler | ast.match_case
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
# Where a line of Python ends: not at a form feed, and at no separator of Unicode's.
_LINE_END = re.compile(r"\r\n|\r|\n")


class Patch(NamedTuple):
    """Name one place that changes an imported module, with its line and its whole statement."""

    number: int
    does: str
    stated: str
    line: str

    def note(self, path: str) -> str:
        return f"{path}:{self.number}: {self.does}: {self.line[:120]}"


class _Place(NamedTuple):
    """Hold a node, the statement it stands in, and when it is run."""

    node: ast.AST
    statement: ast.AST
    on_import: bool


def patch_notes(
    changes: Iterable[Change],
    read_base: Callable[[str], bytes | None],
    read_tree: Callable[[str], bytes | None],
) -> tuple[str, ...]:
    """Name the patches that a change brings into files of tests."""
    notes: list[str] = []
    for change in changes:
        path = change.path
        if change.status == "D" or not is_of_tests(path):
            continue
        known = read_base(path) if change.status != "A" else None
        notes += _new_notes(path, known, read_tree(path) or b"")
    return shortened(notes)


def is_of_tests(path: str) -> bool:
    """Tell whether a file is Python that is run with the tests."""
    return path.endswith(".py") and (is_beside_tests(path) or is_test_file(path))


def _new_notes(path: str, before: bytes | None, after: bytes) -> Iterator[str]:
    try:
        found = patches_in(after)
    except _UNREADABLE:
        yield f"{path}: it cannot be read as Python, so what it replaces is not known"
        return
    try:
        old = Counter((patch.does, patch.stated) for patch in patches_in(before or b""))
    except _UNREADABLE:
        old = Counter()
    for patch in found:
        if old[patch.does, patch.stated] > 0:
            old[patch.does, patch.stated] -= 1
        else:
            yield patch.note(path)


_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def patches_in(content: bytes) -> list[Patch]:
    """Find the patches in the text of a Python file; raises what says that it is none."""
    if len(content) > _MOST_BYTES:
        raise ValueError("too large")
    tree = parse_quietly(content)
    lines = _LINE_END.split(content.decode("utf-8", "replace"))
    undoes = any(isinstance(n, ast.Attribute) and n.attr in _UNDOING for n in ast.walk(tree))
    names = ImportedNames(tree)
    stated: dict[ast.AST, str] = {}
    found: set[Patch] = set()
    for place in _places(tree, names):
        does = _does(place, names, undoes=undoes)
        if does is not None:
            number: int = place.node.lineno  # type: ignore[attr-defined]
            if place.statement not in stated:
                stated[place.statement] = _stated(place.statement)
            line = lines[number - 1].strip() if number <= len(lines) else ""
            patch = Patch(number, does, stated[place.statement], line)
            found.add(patch)
    return sorted(found)


def _stated(statement: ast.AST) -> str:
    """Give the text of a statement without those in it, however it was laid out."""
    head = copy.copy(statement)
    for name in _BODIES:
        if hasattr(head, name):
            setattr(head, name, [])
    return ast.unparse(head)


def _places(tree: ast.AST, names: ImportedNames) -> Iterator[_Place]:
    """Walk a tree without recursion; a parameter means nothing that was imported."""
    waiting: list[_Place | None] = [_Place(tree, tree, on_import=True)]
    while waiting:
        place = waiting.pop()
        if place is None:
            names.leave()
            continue
        yield place
        node, statement, on_import = place
        inside: list[ast.AST] = []
        if isinstance(node, Function):
            inside = [*node.body] if isinstance(node.body, list) else [node.body]
        taken_up = set(map(id, inside))
        around = (each for each in ast.iter_child_nodes(node) if id(each) not in taken_up)
        waiting += [_at(each, statement, on_import) for each in around]
        if isinstance(node, Function):
            names.enter(node)
            waiting.append(None)  # where its body ends
            waiting += [_at(each, statement, on_import=False) for each in inside]


def _at(node: ast.AST, statement: ast.AST, on_import: bool) -> _Place:
    return _Place(node, node if isinstance(node, _Stated) else statement, on_import)


def _does(place: _Place, known: ImportedNames, *, undoes: bool) -> str | None:
    """Say what a node does to an imported module, if it does anything."""
    node, on_import = place.node, place.on_import
    when = "when it is imported" if on_import else "while it runs"
    patches = f"changes what it imports, for other tests too, {when}"
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        free = isinstance(node, ast.Subscript) and known.is_environment(node.value)
        return patches if not free and is_imported(node.value, known) else None
    if not isinstance(node, ast.Call):
        return None
    name = called(node)
    if name in _FROM_TEXT and isinstance(node.func, ast.Name):
        return f"runs code from a text {when}"
    if _sets(node, known, on_import) and any(is_imported(each, known) for each in node.args[:1]):
        return patches
    return patches if _mutates(node, known) or (_starts(node) and not undoes) else None


def _sets(node: ast.Call, known: Container[str], on_import: bool) -> bool:
    """Tell whether a call sets an attribute for good; `monkeypatch` takes it back after a test."""
    if called(node) not in _SETTING:
        return False
    func = node.func
    own = not isinstance(func, ast.Attribute) or func.attr.startswith("__")
    return own or on_import or is_imported(func, known)


def _mutates(node: ast.Call, known: ImportedNames) -> bool:
    func = node.func
    if not isinstance(func, ast.Attribute):
        return False
    items = func.attr in _ITEMS and not known.is_environment(func.value)
    names = func.attr in _MUTATING and _is_table(func.value)
    return (items or names) and is_imported(func.value, known)


def _is_table(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return called(node) == "vars"
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in _TABLES


def _starts(node: ast.Call) -> bool:
    """Tell whether a call begins a patch that only another call would undo."""
    func = node.func
    if called(node) == "MonkeyPatch":
        return True
    return isinstance(func, ast.Attribute) and func.attr == "start" and _is_patcher(func.value)


def _is_patcher(node: ast.AST) -> bool:
    while isinstance(node, ast.Call | ast.Attribute):
        if isinstance(node, ast.Attribute) and node.attr in ("patch", "start"):
            # A start before this one is looked at by itself: a long row is walked once.
            return node.attr == "patch"
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == "patch"

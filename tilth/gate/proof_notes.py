"""What a change does to the tools of its own proof, told from the syntax trees of its files.

Exits, frames, tests that product code knows of, changes of what is imported, skips, silenced
checks. These are notes for evaluator and person; nothing is refused here. Pure but for the reading
that is handed in.
"""

from __future__ import annotations

import ast
import io
import os
import re
import tokenize
import types
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from typing import NamedTuple

from tilth.base.hidden_characters import escaped_line
from tilth.base.quiet import parse_quietly
from tilth.gate.steering import is_of_tests
from tilth.gate.tampering import shortened
from tilth.git.changes import Change

Read = Callable[[str], bytes | None]

_MOST_BYTES = 2_000_000
_MOST_CHARS = 120
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
# Where a line of Python ends: not at a form feed, and at no separator of Unicode's.
_LINE_END = re.compile(r"\r\n|\r|\n")
_ENDS = "reaches for the end or a copy of the process"
_FRAMES = "reaches into the running interpreter"
_KNOWS = "product code knows of tests"
_CHANGES = "changes what it imports, for others too"
_TEXT = "runs code from a text"
_SKIPS = "skips a test or expects it to fail"
_SILENT = "silences a check"
# The gravest first: of a flood of harmless ones nothing may hide behind it.
_KINDS = (_ENDS, _FRAMES, _KNOWS, _CHANGES, _TEXT, _SKIPS, _SILENT)

_RUNNING = (types.FrameType, types.TracebackType, types.CodeType)
_RUNNING += (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)  # type: ignore[assignment]
_NAMES = {
    **{name: _ENDS for name in dir(os) if name.startswith(("exec", "fork", "_exit", "abort"))},
    **dict.fromkeys(("atexit", "kill", "killpg", "raise_signal", "pthread_kill"), _ENDS),
    **{n: _FRAMES for kind in _RUNNING for n in dir(kind) if re.match(r"[a-z]{1,2}_", n)},
    **dict.fromkeys(("_getframe", "_current_frames", "currentframe", "settrace"), _FRAMES),
    **dict.fromkeys(("setprofile", "get_objects", "get_referrers", "get_referents"), _FRAMES),
    **dict.fromkeys(("__code__", "__closure__", "__traceback__", "_pytest"), _FRAMES),
    **dict.fromkeys(("skipif", "skipIf", "skipUnless", "skipTest", "SkipTest"), _SKIPS),
    **dict.fromkeys(("xfail", "importorskip", "expectedFailure"), _SKIPS),
}
_SOURCES = frozenset({"getsource", "getsourcelines", "getsourcefile", "findsource", "linecache"})
_RUNNERS = frozenset({"pytest", "_pytest", "unittest", "pluggy", "doctest"})
_OF_TESTS = re.compile(
    r"\b_?(?:pytest|unittest|conftest)\b|PYTEST_|_tilth|\btests?[/\\]|\btest_\w+\.py\b"
)
_COMMENT = re.compile(
    r"#\s*(?:(?:type|pyright|mypy|ty):\s*ignore\b|ruff:\s*(?:disable|ignore|file-ignore)\b"
    r"|(?:ruff:\s*|flake8[:=]\s*)?noqa\b|pragma:\s*no)",
    re.IGNORECASE,
)
_REACHING = frozenset({"getattr", "vars", "type"})
_FROM_TEXT = frozenset({"exec", "eval", "compile"})
_SETTING = frozenset({"setattr", "delattr", "setitem", "delitem"})
_SETTING |= {f"__{name}__" for name in _SETTING}
_MUTATING = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "setdefault", "update"}
)
# What is put there is for the programs that a test starts, and honest tests do.
_ENVIRONMENT = frozenset({"environ", "environb"})


class _Found(NamedTuple):
    """Name what one line does."""

    kind: str
    number: int
    line: str


def proof_notes(
    changes: Iterable[Change], files: Container[str], read_base: Read, read_tree: Read
) -> tuple[str, ...]:
    """Name what a change newly does to the tools of its own proof, the gravest first.

    `files` are those of the changed tree.
    """
    notes: dict[str, list[str]] = {kind: [] for kind in ("", *_KINDS)}
    for change in changes:
        if change.status == "D" or not change.path.endswith((".py", ".pyi", ".pyw")):
            continue
        before = read_base(change.path) if change.status != "A" else None
        for found in _new(change.path, files, before or b"", read_tree(change.path) or b""):
            place = f"{change.path}:{found.number}: " if found.number else f"{change.path}: "
            notes[found.kind].append(escaped_line(f"{place}{found.kind}{found.line}"))
    return tuple(note for kind in notes.values() for note in shortened(kind))


def _new(path: str, files: Container[str], before: bytes, after: bytes) -> Iterator[_Found]:
    try:
        now = _found(path, files, after)
    except _UNREADABLE:
        why = "it cannot be read as Python, so what it does to its own proof is not known"
        yield _Found("", 0, why)
        return
    try:
        old = Counter((each.kind, each.line) for each in _found(path, files, before))
    except _UNREADABLE:
        old = Counter()
    for each in now:
        if old[each.kind, each.line] > 0:
            old[each.kind, each.line] -= 1
        else:
            yield each


def _found(path: str, files: Container[str], content: bytes) -> list[_Found]:
    if len(content) > _MOST_BYTES:
        raise ValueError("too large")
    tree = parse_quietly(content)
    lines = _LINE_END.split(content.decode("utf-8", "replace"))
    reader = _Reader(tree, None if is_of_tests(path) else files)
    places = {(kind, node.lineno) for node, kind in reader.found()}  # type: ignore[attr-defined]
    places |= {(_SILENT, number) for number in _silenced(content)}
    return [
        _Found(kind, number, f": {lines[number - 1].strip()[:_MOST_CHARS]}")
        for kind, number in sorted(places, key=lambda place: (place[1], place[0]))
        if number <= len(lines)
    ]


def _silenced(content: bytes) -> Iterator[int]:
    try:
        for token in tokenize.tokenize(io.BytesIO(content).readline):
            if token.type == tokenize.COMMENT and _COMMENT.search(token.string):
                yield token.start[0]
    except (*_UNREADABLE, tokenize.TokenError):
        return


class _Reader:
    """Find what a file does; `files` of the project are given for one of the product."""

    def __init__(self, tree: ast.Module, files: Container[str] | None) -> None:
        self._nodes = list(ast.walk(tree))
        self._files = files
        self._said = {
            id(node.value)
            for node in self._nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        self._imported = set(self._imports())

    def found(self) -> Iterator[tuple[ast.AST, str]]:
        """Give the nodes that do something worth a note, with what it is."""
        for node in self._nodes:
            for name in _names(node):
                if kind := _NAMES.get(name):
                    yield node, kind
                if self._files is not None and (name in _SOURCES or name.startswith("_tilth")):
                    yield node, _KNOWS
            if self._files is not None and self._knows_tests(node):
                yield node, _KNOWS
            if _skips(node):
                yield node, _SKIPS
            if self._changes(node):
                yield node, _CHANGES
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _FROM_TEXT:
                yield node, _TEXT

    def _imports(self) -> Iterator[str]:
        """Give the names that stand for something imported; in the product, for what is foreign."""
        known: set[str] = set()
        for node in self._nodes:
            if isinstance(node, ast.Import):
                known |= {_bound(a) for a in node.names if self._is_foreign(a.name)}
            elif isinstance(node, ast.ImportFrom):
                module = f"{'.' * node.level}{node.module or ''}"
                known |= {_bound(alias) for alias in node.names if self._is_foreign(module)}
        for node in self._nodes:
            if isinstance(node, ast.Assign) and _root(node.value) in known:
                known |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        yield from known

    def _is_foreign(self, module: str) -> bool:
        top = module.partition(".")[0]
        if self._files is None:
            return True
        places = (f"{top}.py", f"{top}/__init__.py", f"src/{top}.py", f"src/{top}/__init__.py")
        return bool(top) and not any(place in self._files for place in places)

    def _knows_tests(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Import):
            return any(_is_of_tests(alias.name) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            return _is_of_tests(node.module or "")
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
        return is_text and id(node) not in self._said and bool(_OF_TESTS.search(_text(node)))

    def _changes(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute | ast.Subscript):
            of = _owner(node.value) if isinstance(node, ast.Attribute) else node.value
            return not isinstance(node.ctx, ast.Load) and self._is_imported(of)
        if not isinstance(node, ast.Call):
            return False
        func, name = node.func, next(_names(node.func), "")
        if name in _SETTING and node.args:
            own = isinstance(func, ast.Name) or name.startswith("__") or self._is_imported(func)
            return own and self._is_imported(node.args[0])
        return (
            name in _MUTATING and isinstance(func, ast.Attribute) and self._is_imported(func.value)
        )

    def _is_imported(self, node: ast.AST) -> bool:
        if set(_chain(node)) & _ENVIRONMENT:
            return False
        return _root(node) in self._imported


def _names(node: ast.AST) -> Iterator[str]:
    """Give the names a node uses: as Python reads them, and as a text that is one."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield from node.name.split(".")
    elif isinstance(node, ast.ImportFrom):
        yield from (node.module or "").split(".")
    elif isinstance(node, ast.Constant) and (text := _text(node)).isidentifier():
        yield text


def _text(node: ast.AST) -> str:
    value = getattr(node, "value", "")
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return unicodedata.normalize("NFKC", text) if isinstance(text, str) else ""


def _skips(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "skip":
        return next(_names(node.value), "") in ("pytest", "unittest", "mark")
    is_from = isinstance(node, ast.ImportFrom) and (node.module or "") in _RUNNERS
    return is_from and any(alias.name == "skip" for alias in node.names)  # type: ignore[attr-defined]


def _is_of_tests(module: str) -> bool:
    parts = module.split(".")
    names = {"tests", "test", "conftest"}
    return parts[0] in _RUNNERS or any(p in names or p.startswith("test_") for p in parts)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _owner(node: ast.AST) -> ast.AST:
    """Give what an attribute is set on; of a call, what was called: `decimal.getcontext()`."""
    while isinstance(node, ast.Call):
        reaches = bool(node.args) and next(_names(node.func), "") in _REACHING
        node = node.args[0] if reaches else node.func
    return node


def _chain(node: ast.AST) -> Iterator[str]:
    """Give the names that lead to what an expression stands for; a call's result is another."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            yield node.attr
        node = node.value
    if isinstance(node, ast.Call) and node.args and next(_names(node.func), "") in _REACHING:
        yield from _chain(node.args[0])
    elif isinstance(node, ast.Name):
        yield node.id


def _root(node: ast.AST) -> str:
    """Give the name an expression begins with."""
    return (list(_chain(node)) or [""])[-1]

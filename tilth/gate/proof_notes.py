"""What a change does to the tools of its own proof, told from the syntax trees of its files.

Exits, frames, tests that product code knows of, changes of what is imported, skips, silenced
checks. These are notes for evaluator and person; nothing is refused here. Pure but for the reading
that is handed in.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
import types
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator

from tilth.base.hidden_characters import escaped_line
from tilth.base.quiet import parse_quietly
from tilth.gate.steering import is_of_tests
from tilth.gate.tampering import shortened
from tilth.git.changes import Change

Read = Callable[[str], bytes | None]

_MOST_BYTES = 2_000_000
_MOST_CHARS = 120
# Where a line of Python ends: not at a form feed, and at no separator of Unicode's.
_LINE_END = re.compile(r"\r\n|\r|\n")
_UNKNOWN = "it cannot be read as Python, so what it does to its own proof is not known"
_ENDS = "reaches for the end or a copy of the process"
_FRAMES = "reaches into the running interpreter"
_KNOWS = "product code knows of tests"
_CHANGES = "changes what it imports, for others too"
_TEXT = "runs code from a text"
_SKIPS = "skips a test or expects it to fail"
_SILENT = "silences a check"
# The gravest first: of a flood of harmless ones nothing may hide behind it.
_KINDS = (_UNKNOWN, _ENDS, _FRAMES, _KNOWS, _CHANGES, _TEXT, _SKIPS, _SILENT)

_RUNNING = (types.FrameType, types.TracebackType, types.CodeType, types.GeneratorType)
_OF_FRAMES = {name for kind in _RUNNING for name in dir(kind) if re.match("[a-z]{1,2}_", name)}
_NAMES = {
    _ENDS: r"exec[lv]\w*|v?fork\w*|_exit|abort|atexit|kill|killpg|raise_signal|pthread_kill",
    _FRAMES: rf"{'|'.join(_OF_FRAMES)}|(cr|ag)_\w+|__(code|closure|traceback)__|_pytest|settrace"
    r"|_getframe|_current_frames|currentframe|setprofile|get_(objects|referrers|referents)",
    _SKIPS: r"(pytest|unittest|mark)\.skip|skip(if|If|Unless|Test)|SkipTest|xfail|importorskip"
    r"|expectedFailure",
}
_IN_PRODUCT = {
    _KNOWS: r"(?s).*(\b_?(pytest|unittest|conftest|pluggy|doctest)\b|PYTEST_|_tilth|\btests?[/\\]"
    r"|\btest(s|_\w+)?\.py\b|\b(getsource\w*|findsource|linecache)\b).*",
}
_COMMENT = re.compile(
    r"#\s*(noqa|pragma:\s*no|(type|ty|mypy|pyright|ruff|flake8)[:=]\s*"
    r"(ignore|noqa|disable|file-ignore))\b",
    re.IGNORECASE,
)
_REACHING = frozenset({"getattr", "vars", "type"})
_SETTING = re.compile(r"(__)?(?:set|del)(?:attr|item)(?(1)__)")
_MUTATING = re.compile("append|clear|extend|insert|pop|popitem|remove|setdefault|update")


def proof_notes(
    changes: Iterable[Change], files: Container[str], read_base: Read, read_tree: Read
) -> tuple[str, ...]:
    """Name what a change newly does to the tools of its own proof, the gravest first.

    `files` are those of the changed tree.
    """
    notes: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for change in changes:
        if change.status == "D" or not change.path.endswith((".py", ".pyi", ".pyw")):
            continue
        own = None if is_of_tests(change.path) else files
        before = read_base(change.path) if change.status != "A" else None
        old = Counter((kind, line) for kind, _, line in _found(before or b"", own))
        for kind, number, line in _found(read_tree(change.path) or b"", own):
            old[kind, line] -= 1
            if old[kind, line] < 0:
                notes[kind].append(escaped_line(f"{change.path}{number}: {kind}{line}"))
    return tuple(note for kind in notes.values() for note in shortened(kind))


def _found(content: bytes, files: Container[str] | None) -> list[tuple[str, str, str]]:
    """Give what a file does, with its lines; `files` are the project's for one of the product."""
    try:
        if len(content) > _MOST_BYTES:
            raise ValueError("too large")
        tokens = list(tokenize.tokenize(io.BytesIO(content).readline))
        nodes = list(ast.walk(parse_quietly(content)))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return [(_UNKNOWN, "", "")]
    places = {(node.lineno, kind) for node, kind in _of_nodes(nodes, files)}  # type: ignore[attr-defined]
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    places |= {(each.start[0], _SILENT) for each in comments if _COMMENT.search(each.string)}
    lines = dict(enumerate(_LINE_END.split(content.decode("utf-8", "replace")), 1))
    return [(k, f":{n}", f": {lines.get(n, '').strip()[:_MOST_CHARS]}") for n, k in sorted(places)]


def _of_nodes(nodes: list[ast.AST], files: Container[str] | None) -> Iterator[tuple[ast.AST, str]]:
    """Give the nodes that do something worth a note, with what it is."""
    imported = _imported(nodes, files)
    kinds = _NAMES if files is None else {**_NAMES, **_IN_PRODUCT}
    said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        is_said = isinstance(node, ast.Constant) and id(node) in said
        names = () if is_said else _names(node)
        for kind, pattern in kinds.items():
            if any(re.fullmatch(pattern, name) for name in names):
                yield node, kind
        if _changes(node, imported):
            yield node, _CHANGES
        if getattr(node, "id", "") in ("exec", "eval", "compile"):
            yield node, _TEXT


def _imported(nodes: list[ast.AST], files: Container[str] | None) -> set[str]:
    """Give the names that stand for something imported; in the product, for what is foreign."""
    known: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                module = "." if getattr(node, "level", 0) else getattr(node, "module", alias.name)
                # What is put into the environment is for programs that a test starts.
                if _is_foreign(module, files) and not alias.name.startswith("environ"):
                    known.add(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.Assign) and _root(node.value) in known:
            known |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    return known


def _is_foreign(module: str, files: Container[str] | None) -> bool:
    top = module.partition(".")[0]
    places = (f"{top}.py", f"{top}/__init__.py", f"src/{top}.py", f"src/{top}/__init__.py")
    return files is None or (bool(top) and not any(place in files for place in places))


def _changes(node: ast.AST, imported: set[str]) -> bool:
    """Tell whether a node changes a part of what is imported."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        of = _root(node.value, calls=isinstance(node, ast.Attribute))
        return not isinstance(node.ctx, ast.Load) and of in imported
    if not isinstance(node, ast.Call):
        return False
    by, name = _root(node.func), "".join(_names(node.func)[:1])
    if node.args and _SETTING.fullmatch(name):
        # By whom it is undone, as monkeypatch does, is handed in.
        return _root(node.args[0]) in imported and (by in imported or hasattr(builtins, by))
    is_method = isinstance(node.func, ast.Attribute)
    return is_method and by in imported and bool(_MUTATING.fullmatch(name))


def _names(node: ast.AST) -> list[str]:
    """Give the names and texts a node uses, as Python reads them; of an import its file as well."""
    if isinstance(node, ast.Attribute):
        return [node.attr, *(f"{name}.{node.attr}" for name in _names(node.value)[:1])]
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = {getattr(node, "module", alias.name) or "" for alias in node.names}
        names = [word for alias in node.names for word in alias.name.split(".")]
        found = [f"{module}.{name}" for module in modules for name in names]
        files = [f"{module.replace('.', '/')}.py" for module in modules]
        return [*names, *(word for module in modules for word in module.split(".")), *found, *files]
    value = getattr(node, "id", getattr(node, "value", None))
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    return [unicodedata.normalize("NFKC", text)] if isinstance(text, str) else []


def _root(node: ast.AST, *, calls: bool = False) -> str:
    """Give the name that leads to what an expression stands for; a call's result is another.

    With `calls` it is followed to what was called, as in `decimal.getcontext()`.
    """
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call) and node.args and _REACHING.intersection(_names(node.func)):
            node = node.args[0]
        elif isinstance(node, ast.Call) and calls:
            node = node.func
        elif (
            isinstance(node, ast.Attribute | ast.Subscript)
            and getattr(node, "attr", "")[:7] != "environ"
        ):
            node = node.value
        else:
            return ""
    return node.id

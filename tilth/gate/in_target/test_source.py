"""The text of one test file: its functions, what its names are bound to, and parts of it replaced.

Told from the syntax tree alone. Imports and runs nothing of the file.
"""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Function = ast.FunctionDef | ast.AsyncFunctionDef
    # What a name is bound to: an expression, or the element there of each that a loop goes through.
    Bound = tuple[ast.expr, tuple[int, ...] | None]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class TestFunction:
    """Hold a function of a file, the class it stands in, and what its names are bound to."""

    __test__ = False

    def __init__(self, source: TestSource, node: Function, owner: ast.ClassDef | None) -> None:
        self.source = source
        self.node = node
        self.owner = owner
        self.locals = bindings(node)
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        self.parameters = {one.arg for one in every}


class TestSource:
    """Hold one file; what does not parse raises what the parser raises."""

    __test__ = False

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self._encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        text = content.decode(self._encoding).replace("\r\n", "\n").lstrip("\ufeff")
        self._lines = [line.encode("utf-8") for line in text.split("\n")]
        tree = ast.parse(text)
        self.constants = bindings(tree)
        self.functions: dict[str, TestFunction] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        # By the name it has here, the last part of the module a thing is imported from.
        self.imported: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                module = (node.module or "").rpartition(".")[2]
                self.imported.update({n.asname or n.name: module for n in node.names})
        self._take(tree.body, "", None)

    def _take(self, body: list[ast.stmt], above: str, owner: ast.ClassDef | None) -> None:
        for node in body:
            if isinstance(node, FUNCTIONS):
                self.functions[above + node.name] = TestFunction(self, node, owner)
            elif isinstance(node, ast.ClassDef):
                self.classes[above + node.name] = node
                self._take(node.body, f"{above}{node.name}::", node)

    def text_of(self, node: ast.expr) -> str:
        """Give the text of an expression."""
        first, last = node.lineno - 1, end_of(node)[0] - 1
        lines = self._lines[first : last + 1]
        lines[-1] = lines[-1][: end_of(node)[1]]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines).decode("utf-8")

    def rewritten(self, texts: Iterable[tuple[ast.expr, str]]) -> bytes:
        """Give the file with a text in the place of each expression; of nested ones the outer."""
        lines = list(self._lines)
        outer: list[tuple[ast.expr, str]] = []
        for node, text in sorted(
            texts, key=lambda each: (start_of(each[0]), *_last_first(each[0]))
        ):
            if not outer or start_of(node) >= end_of(outer[-1][0]):
                outer.append((node, text))
        for node, text in reversed(outer):
            first, last = node.lineno - 1, end_of(node)[0] - 1
            head, tail = lines[first][: node.col_offset], lines[last][end_of(node)[1] :]
            lines[first : last + 1] = (head + text.encode("utf-8") + tail).split(b"\n")
        return b"\n".join(lines).decode("utf-8").encode(self._encoding)


def start_of(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def end_of(node: ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def _last_first(node: ast.expr) -> tuple[int, int]:
    line, column = end_of(node)
    return -line, -column


def name_of(node: ast.expr) -> str:
    """Give the last name of an expression, or of what it calls."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """Give all names that an expression uses."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def is_literal(node: ast.expr) -> bool:
    """Tell whether an expression is written out: numbers, texts, and what is made of them."""
    if isinstance(node, ast.Constant):
        # What is not finite is not written by its name.
        return node.value is not Ellipsis and "inf" not in repr(node.value)[:4]
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, (ast.USub, ast.UAdd)) and isinstance(node.operand, ast.Constant)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(is_literal, node.elts))
    if isinstance(node, ast.Dict):
        keys = [key for key in node.keys if key is not None]
        return len(keys) == len(node.keys) and all(map(is_literal, [*keys, *node.values]))
    return False


def bindings(scope: ast.AST) -> dict[str, list[Bound]]:
    """Give what the names of a scope are bound to; `self.x` is a name as well."""
    found: dict[str, list[Bound]] = {}
    for node in own_nodes(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _bind(target, node.value, None, found)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            _bind(node.target, node.value, None, found)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            _bind(node.target, node.iter, (), found)
        elif isinstance(node, (ast.AugAssign, ast.NamedExpr)):
            # Twice bound: what it holds is not told by one expression.
            _bind(node.target, node.value, None, found)
            _bind(node.target, node.value, None, found)
    return found


def _bind(
    target: ast.AST,
    value: ast.expr,
    at: tuple[int, ...] | None,
    found: dict[str, list[Bound]],
) -> None:
    if isinstance(target, ast.Name):
        found.setdefault(target.id, []).append((value, at))
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        found.setdefault(f"{target.value.id}.{target.attr}", []).append((value, at))
    elif isinstance(target, (ast.Tuple, ast.List)):
        cells = elements(value) if at is None else []
        for index, one in enumerate(target.elts):
            if at is not None:
                _bind(one, value, (*at, index), found)
            elif len(cells) == len(target.elts):
                _bind(one, cells[index], None, found)


def elements(node: ast.expr | None) -> list[ast.expr]:
    """Give what a list or tuple that is written out holds."""
    return node.elts if isinstance(node, (ast.Tuple, ast.List)) else []


def written_as(node: ast.expr, *scopes: Mapping[str, list[Bound]]) -> tuple[ast.expr, int]:
    """Give the expression that a name is bound to once, and in which of the scopes."""
    if isinstance(node, ast.Name):
        for number, scope in enumerate(scopes):
            bound = scope.get(node.id, [])
            if bound:
                only: Any = bound[0]
                return (only[0] if len(bound) == 1 and only[1] is None else node), number
    return node, 0


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Walk a scope in the order of the text, but not into functions and classes within."""
    waiting = list(reversed(list(ast.iter_child_nodes(scope))))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))

"""The text of one test file: its functions, and parts of it replaced on as many lines.

Told from the syntax tree alone. Imports and runs nothing of the file.
"""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Function = ast.FunctionDef | ast.AsyncFunctionDef
    Place = tuple[int, int]
    # What stands in the place of what is between two places of the text, and its turn among
    # those that begin at the same one.
    Edit = tuple[Place, tuple[int, int, int], Place, str]

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class TestSource:
    """Hold one file; what does not parse raises what the parser raises."""

    __test__ = False

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self._encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        text = content.decode(self._encoding).replace("\r\n", "\n").lstrip("\ufeff")
        if "\r" in text:
            raise ValueError("its lines are not counted as the parser counts them")
        self._lines = [line.encode("utf-8") for line in text.split("\n")]
        self.tree = ast.parse(text)
        # By its name, each function with the decorators of it and its class.
        self.functions: dict[str, tuple[Function, list[ast.expr]]] = {}
        self._take(self.tree.body, "", [])
        # The names of the functions in it that do something, wherever they stand.
        self.defined = {
            node.name
            for node in ast.walk(self.tree)
            if isinstance(node, FUNCTIONS)
            and any(isinstance(each, (ast.Assert, ast.Call, ast.Raise)) for each in ast.walk(node))
        }

    def _take(self, body: list[ast.stmt], above: str, marks: list[ast.expr]) -> None:
        for node in body:
            if isinstance(node, FUNCTIONS):
                self.functions[above + node.name] = node, [*marks, *node.decorator_list]
            elif isinstance(node, ast.ClassDef):
                self._take(node.body, f"{above}{node.name}::", [*marks, *node.decorator_list])

    def rewritten(self, edits: Iterable[Edit]) -> bytes:
        """Give the file with its edits; what no longer parses raises SyntaxError."""
        lines = list(self._lines)
        for start, _, end, text in sorted(edits, reverse=True):
            (first, column), (last, stop) = start, end
            made = lines[first - 1][:column] + text.encode("utf-8") + lines[last - 1][stop:]
            lines[first - 1 : last] = made.split(b"\n")
        text = b"\n".join(lines).decode("utf-8")
        ast.parse(text)
        return text.encode(self._encoding)


def replacing(node: ast.expr, text: str) -> list[Edit]:
    """Put a text in the place of an expression."""
    start, end = start_of(node), end_of(node)
    return [(start, (2, 0, 0), end, f"({text}{chr(10) * (end[0] - start[0])})")]


def wrapping(node: ast.expr, before: str) -> list[Edit]:
    """Make an expression the last argument of a call; of nested ones the inner is inside."""
    start, end = start_of(node), end_of(node)
    head, tail = (1, -end[0], -end[1]), (0, -start[0], -start[1])
    return [(start, head, start, f"({before}"), (end, tail, end, "))")]


def start_of(node: ast.expr) -> Place:
    return node.lineno, node.col_offset


def end_of(node: ast.expr) -> Place:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def name_of(node: ast.expr) -> str:
    """Give the last name of an expression, or of what it calls."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """Give all names that an expression uses, those of attributes as well."""
    inner = (each for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute)))
    return {name_of(each) for each in inner}


def is_literal(node: ast.expr) -> bool:
    """Tell whether an expression is written out: numbers, texts, and what is made of them."""
    if isinstance(node, ast.Constant):
        # What is not finite is not written by its name.
        is_number = isinstance(node.value, (float, complex))
        return node.value is not Ellipsis and not (is_number and "inf" in repr(node.value))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, (ast.USub, ast.UAdd)) and isinstance(node.operand, ast.Constant)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(is_literal, node.elts))
    if isinstance(node, ast.Dict):
        keys = [key for key in node.keys if key is not None]
        return len(keys) == len(node.keys) and all(map(is_literal, [*keys, *node.values]))
    return False

"""The text of one test file, and parts of it replaced on as many lines.

Told from the syntax tree alone. Imports and runs nothing of the file.
"""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Place = tuple[int, int]


class TestSource:
    """Hold one file; what does not parse raises what the parser raises."""

    __test__ = False

    def __init__(self, content: bytes) -> None:
        self._encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        text = content.decode(self._encoding).replace("\r\n", "\n").lstrip("\ufeff")
        if "\r" in text:
            raise ValueError("its lines are not counted as the parser counts them")
        self._lines = text.encode("utf-8").split(b"\n")
        self.tree = ast.parse(text)
        # What stands in the place of what is between two places of the text, and its turn among
        # those that begin at the same one.
        self._edits: list[tuple[Place, tuple[int, int, int], Place, str]] = []

    @property
    def defined(self) -> set[str]:
        """Name the functions in it that do something, wherever they stand."""
        does = (ast.Assert, ast.Call, ast.Raise)
        return {
            node.name
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            and any(isinstance(each, does) for each in ast.walk(node))
        }

    def replace(self, node: ast.expr, text: str) -> None:
        """Put a text in the place of an expression."""
        start, end = _span(node)
        self._edits.append((start, (2, 0, 0), end, f"({text}{chr(10) * (end[0] - start[0])})"))

    def wrap(self, node: ast.expr, before: str) -> None:
        """Make an expression the last argument of a call; of nested ones the inner is inside."""
        start, end = _span(node)
        self._edits.append((start, (1, -end[0], -end[1]), start, f"({before}"))
        self._edits.append((end, (0, -start[0], -start[1]), end, "))"))

    def rewritten(self) -> bytes:
        """Give the file with its edits; what no longer parses raises SyntaxError."""
        lines = list(self._lines)
        for start, _, end, text in sorted(self._edits, reverse=True):
            (first, column), (last, stop) = start, end
            made = lines[first - 1][:column] + text.encode("utf-8") + lines[last - 1][stop:]
            lines[first - 1 : last] = made.split(b"\n")
        text = b"\n".join(lines).decode("utf-8")
        ast.parse(text)
        return text.encode(self._encoding)


def _span(node: ast.expr) -> tuple[Place, Place]:
    end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (node.lineno, node.col_offset), end


def name_of(node: ast.expr) -> str:
    """Give the last name of an expression, or of what it calls."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


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

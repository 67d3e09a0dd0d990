"""The literals an expectation is made of, wherever they are written.

A name leads to what it is bound to: in the function, in `setUp`, in the class or the module, in a
row of `parametrize`, in the column of a table that a loop goes through. Runs nothing.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from .test_source import (
    FUNCTIONS,
    bindings,
    elements,
    is_literal,
    name_of,
    written_as,
)

if TYPE_CHECKING:
    from .test_source import Bound, TestFunction

_DEEPEST = 5
_MOST_ROWS = 200
EVERY_CASE = -1


class Literal(NamedTuple):
    """Hold a literal, whether it is made anew in each call, and the case it belongs to."""

    node: ast.expr
    in_call: bool
    case: int = EVERY_CASE


class ExpectedLiterals:
    """Find the literals behind the expressions of one function."""

    def __init__(self, function: TestFunction) -> None:
        self._function = function
        # How many cases `parametrize` makes of the function, as far as they were looked at.
        self.rows = 1

    def of(self, node: ast.expr, *, in_call: bool = True, depth: int = 0) -> list[Literal]:
        """Give the literals an expression is made of; none if it cannot be told."""
        if is_literal(node):
            return [Literal(node, in_call)]
        if depth > _DEEPEST:
            return []
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth + 1)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node, depth + 1)
        parts = _parts(node)
        return [leaf for part in parts for leaf in self.of(part, in_call=in_call, depth=depth + 1)]

    def _of_name(self, name: str, depth: int) -> list[Literal]:
        function = self._function
        if name in function.locals:
            return self._of_bound(function.locals[name], in_call=True, depth=depth)
        if name in function.parameters:
            return self._of_parameter(name, depth)
        return self._of_bound(function.source.constants.get(name, []), in_call=False, depth=depth)

    def _of_attribute(self, node: ast.Attribute, depth: int) -> list[Literal]:
        """Follow `self.x` to where it is set up, or to the class."""
        owner = self._function.owner
        if not isinstance(node.value, ast.Name) or owner is None:
            return []
        if node.value.id not in ("self", "cls", owner.name):
            return []
        methods = [each for each in owner.body if isinstance(each, FUNCTIONS)]
        set_up = [b for each in methods for b in bindings(each).get(f"self.{node.attr}", [])]
        bound = set_up or bindings(owner).get(node.attr, [])
        return self._of_bound(bound, in_call=bool(set_up), depth=depth)

    def _of_bound(self, bound: list[Bound], *, in_call: bool, depth: int) -> list[Literal]:
        if len(bound) != 1:
            return []
        value, at = bound[0]
        if at is None:
            return self.of(value, in_call=in_call, depth=depth)
        rows, in_call = self._table(value, in_call=in_call)
        found: list[Literal] = []
        for row in rows[:_MOST_ROWS]:
            cell: ast.expr | None = row
            for index in at:
                cells = elements(cell)
                cell = cells[index] if index < len(cells) else None
            found += self.of(cell, in_call=in_call, depth=depth) if cell is not None else []
        return found

    def _table(self, node: ast.expr, *, in_call: bool) -> tuple[list[ast.expr], bool]:
        """Give the rows of a table that is written out, and whether each call makes it anew."""
        scopes = (self._function.locals, self._function.source.constants)
        is_name = isinstance(node, ast.Name)
        node, scope = written_as(node, *scopes)
        in_call = in_call and not (is_name and scope == 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr != "items":
                return [], in_call
            table, scope = written_as(node.func.value, *scopes)
            if not isinstance(table, ast.Dict):
                return [], in_call
            pairs = [(k, v) for k, v in zip(table.keys, table.values) if k is not None]  # noqa: B905 (Python 3.8)
            rows = [ast.Tuple(elts=[k, v], ctx=ast.Load()) for k, v in pairs]
            return list(rows), in_call and scope == 0
        return elements(node), in_call

    def _of_parameter(self, name: str, depth: int) -> list[Literal]:
        """Give the column of `parametrize` that a parameter is taken from."""
        owner = self._function.owner
        marks = [*self._function.node.decorator_list, *(owner.decorator_list if owner else ())]
        tables = [m for m in marks if isinstance(m, ast.Call) and name_of(m) == "parametrize"]
        found: list[Literal] = []
        for mark in tables:
            names = _names(mark.args[0]) if len(mark.args) > 1 else []
            if name not in names:
                continue
            rows, _ = self._table(mark.args[1], in_call=False)
            self.rows = len(rows)
            for number, row in enumerate(rows[:_MOST_ROWS]):
                cell = _cell(row, names.index(name), len(names))
                case = number if len(tables) == 1 else EVERY_CASE
                if cell is not None:
                    leaves = self.of(cell, in_call=False, depth=depth)
                    found += [Literal(leaf.node, leaf.in_call, case) for leaf in leaves]
        return found


def _parts(node: ast.expr) -> list[ast.expr]:
    """Give what an expression is put together from."""
    if isinstance(node, ast.Call):
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        own = [owner] if owner is not None and not isinstance(owner, ast.Name) else []
        return [*own, *node.args, *(word.value for word in node.keywords)]
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    return [node.value] if isinstance(node, (ast.Subscript, ast.Starred)) else []


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [name.strip() for name in node.value.split(",") if name.strip()]
    return [str(getattr(each, "value", "")) for each in elements(node)]


def _cell(row: ast.expr, index: int, width: int) -> ast.expr | None:
    if isinstance(row, ast.Call) and name_of(row) == "param":
        cells = row.args
    elif isinstance(row, ast.Starred):
        cells = []
    else:
        cells = [row] if width == 1 else elements(row)
    return cells[index] if index < len(cells) else None

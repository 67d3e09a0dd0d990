"""Where a small change of a literal must be noticed: what a test expects and uses for nothing else.

It is compared for equality itself, stands in what is compared, or is what a name stands for that is
compared and read nowhere else. Told from the syntax tree alone; what is not told here is changed
nowhere.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from .test_source import is_literal, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    Function = ast.FunctionDef | ast.AsyncFunctionDef

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


class ModuleNames:
    """Know what a module's own names stand for: tables that are read once, and its functions."""

    def __init__(self, module: ast.Module) -> None:
        self.functions = {each.name: each for each in module.body if isinstance(each, _FUNCTIONS)}
        reads = Counter(each.id for each in _names(module))
        bound: dict[str, list[ast.expr]] = {}
        for each in module.body:
            if isinstance(each, ast.Assign):
                for target in each.targets:
                    bound.setdefault(getattr(target, "id", ""), []).append(each.value)
        self.tables = {
            name: values[0] for name, values in bound.items() if reads[name] == len(values) == 1
        }


class NearSites:
    """Find in one function the literals that a test expects and uses for nothing else."""

    def __init__(self, function: Function, module: ModuleNames) -> None:
        self._function = function
        self._module = module
        self._sides = [side for node in ast.walk(function) for side in self._expected_by(node)]
        inside = {id(each) for side in self._sides for each in ast.walk(side)}
        elsewhere = {each.id for each in _names(function) if id(each) not in inside}
        # What is compared and read nowhere else in the function.
        self.names = {side.id for side in self._sides if isinstance(side, ast.Name)} - elsewhere

    def alone(self) -> list[ast.expr]:
        """Give the literals that belong to every case of the test."""
        bound = [value for name in self.names for value in self._bound(name)]
        return [node for side in [*self._sides, *bound] for node in _literals(side)]

    def rows(self) -> list[list[ast.expr]]:
        """Give for each case of a test with one `parametrize` the literals that are its own."""
        marks = [each for each in self._function.decorator_list if name_of(each) == "parametrize"]
        if len(marks) != 1 or not isinstance(marks[0], ast.Call) or len(marks[0].args) < 2:
            return []
        said, table = marks[0].args[:2]
        texts = [each.value for each in ast.walk(said) if isinstance(each, ast.Constant)]
        names = [name.strip() for text in texts for name in str(text).split(",") if name.strip()]
        is_one = len(names) == 1 and isinstance(said, ast.Constant)
        columns = [None if is_one else at for at, name in enumerate(names) if name in self.names]
        rows = self._rows(table)
        return [[leaf for at in columns for leaf in _cell(row, at)] for row in rows]

    def _expected_by(self, node: ast.AST) -> Iterator[ast.expr]:
        """Give what is expected where two things are compared for equality."""
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for operator, left, right in zip(node.ops, operands, operands[1:]):  # noqa: B905 (Python 3.8)
                if isinstance(operator, (ast.Eq, ast.NotEq)):
                    yield from _side(left, right)
                elif isinstance(operator, ast.In) and _is_text(left):
                    yield left
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            # `abs(found - expected) < tolerance`
            yield from (each for each in (node.left, node.right) if _is_real(each))
        elif isinstance(node, ast.Call):
            yield from self._expected_of(node)

    def _expected_of(self, call: ast.Call) -> Iterator[ast.expr]:
        name = name_of(call).lower().replace("_", "")
        if name.startswith("assert") and name.endswith("equal") and len(call.args) >= 2:
            yield from _side(*call.args[:2])
        yield from (w.value for w in call.keywords if w.arg == "match" and _is_text(w.value))
        helper = self._module.functions.get(name_of(call))
        if helper is not None and helper is not self._function:
            names = NearSites(helper, _NO_MODULE).names
            takes = zip(helper.args.args, call.args)  # noqa: B905 (Python 3.8)
            yield from (value for one, value in takes if one.arg in names)

    def _bound(self, name: str) -> list[ast.expr]:
        """Give what a name of the function stands for, if that is said in one place."""
        found: list[list[ast.expr]] = []
        for node in ast.walk(self._function):
            if isinstance(node, ast.Assign):
                found += [[node.value] for target in node.targets if _is(target, name)]
            elif isinstance(node, _LOOPS):
                target = node.target
                many = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                at = next((at for at, part in enumerate(many) if _is(part, name)), None)
                if at is not None:
                    at = None if _is(target, name) else at
                    found.append([leaf for row in self._rows(node.iter) for leaf in _cell(row, at)])
        return found[0] if len(found) == 1 else []

    def _rows(self, node: ast.expr) -> list[ast.expr]:
        """Give the rows of a table: written where it is used, or used there alone."""
        if isinstance(node, ast.Call) and name_of(node) == "items" and not node.args:
            # The values of a mapping; its keys are what they are expected of.
            mapping = self._table(getattr(node.func, "value", node))
            return mapping.values if isinstance(mapping, ast.Dict) else []
        table = self._table(node)
        return table.elts if isinstance(table, (ast.List, ast.Tuple)) else []

    def _table(self, node: ast.expr) -> ast.expr:
        return self._module.tables.get(node.id, node) if isinstance(node, ast.Name) else node


def _side(left: ast.expr, right: ast.expr) -> Iterator[ast.expr]:
    if not (is_literal(left) and is_literal(right)):
        yield left if is_literal(left) else right


def _literals(node: ast.AST) -> Iterator[ast.expr]:
    """Give the literals an expression is made of, none inside of another.

    What allows for a difference of its own, as `approx` does, is left out.
    """
    if isinstance(node, ast.expr) and is_literal(node):
        yield node
    elif not (isinstance(node, ast.Call) and node.keywords and name_of(node) == "approx"):
        for child in ast.iter_child_nodes(node):
            yield from _literals(child)


def _cell(row: ast.expr, column: int | None) -> Iterator[ast.expr]:
    """Give the literals of one column of a row of a table; without a number, of all of it."""
    if isinstance(row, ast.Call) and name_of(row) == "param":
        cells, column = row.args, column or 0
    elif column is not None:
        cells = row.elts if isinstance(row, (ast.Tuple, ast.List)) else [row] * (column + 1)
    if column is None:
        yield from _literals(row)
    elif column < len(cells):
        yield from _literals(cells[column])


def _names(tree: ast.AST) -> list[ast.Name]:
    """Give where names are read."""
    every = (each for each in ast.walk(tree) if isinstance(each, ast.Name))
    return [each for each in every if isinstance(each.ctx, ast.Load)]


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_real(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


_NO_MODULE = ModuleNames(ast.Module([], []))

"""What stands behind the names of expectations: the expressions they are bound to, by name alone.

Scopes are not told apart: what is taken for too much changes nothing but where a literal stands.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from .test_source import FUNCTIONS, is_literal, name_of, names_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    Bound = tuple[set[str], ast.expr | None]


def behind(trees: list[ast.Module], names: set[str]) -> list[list[ast.expr]]:
    """Give for each file the expressions that lead to one of the names, through others as well."""
    parameters = {
        node.name: {one.arg for one in [*node.args.args, *node.args.kwonlyargs]}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, FUNCTIONS)
    }
    found: list[list[ast.expr]] = [[] for _ in trees]
    waiting = [(n, b) for n, tree in enumerate(trees) for b in _bindings(tree, parameters)]
    wanted, known = set(names), -1
    while len(wanted) != known:
        known = len(wanted)
        led = [each for each in waiting if each[1][0] & wanted]
        waiting = [each for each in waiting if not each[1][0] & wanted]
        for number, (_, value) in led:
            if value is not None:
                found[number].append(value)
                wanted |= names_in(value)
    return found


def _bindings(tree: ast.AST, parameters: dict[str, set[str]]) -> Iterator[Bound]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((names_in(target), node.value) for target in node.targets)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            yield names_in(node.target), node.value
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            yield names_in(node.target), node.iter
        elif isinstance(node, FUNCTIONS):
            yield from _of_function(node, parameters[node.name])
        elif isinstance(node, ast.Call):
            names = parameters.get(name_of(node), set())
            values = [*node.args, *(word.value for word in node.keywords)]
            if name_of(node) == "parametrize" and node.args:
                names = _written(node.args[0])
                values = values[1:]
            yield from ((names, value) for value in values)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, own: set[str]) -> Iterator[Bound]:
    """Give what a function has by default and what it gives, as a fixture from its parameters."""
    yield from ((own, default) for default in [*node.args.defaults, *node.args.kw_defaults])
    for mark in node.decorator_list:
        words = mark.keywords if isinstance(mark, ast.Call) else []
        yield from (({node.name, "param"}, word.value) for word in words if word.arg == "params")
    for each in ast.walk(node):
        if isinstance(each, (ast.Return, ast.Yield)):
            yield {node.name}, each.value


def _written(node: ast.expr) -> set[str]:
    """Give the names that `parametrize` is told, as one text or as several."""
    texts = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {name.strip() for text in texts for name in str(text).split(",")}


def leaves(node: ast.AST) -> Iterator[ast.expr]:
    """Give the literals an expression is made of; those in an f-string have no place of their own.

    Nothing is told by what is true, false or none.
    """
    if isinstance(node, ast.expr) and is_literal(node):
        constants = (each for each in ast.walk(node) if isinstance(each, ast.Constant))
        if any(not isinstance(each.value, (bool, type(None))) for each in constants):
            yield node
    elif type(node).__name__ not in ("JoinedStr", "TemplateStr"):
        for child in ast.iter_child_nodes(node):
            yield from leaves(child)

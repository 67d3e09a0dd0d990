"""The expectations of test files: where they stand, and the files with each of them looked up.

An expectation is the expected side of an assertion, the exception that is expected, or, where there
is none of these, the truth of the condition. In the rewritten text each goes through a table that
whoever starts the run hands in, so that true and false runs read the same. Literals that it may be
made of are handed in too, and stand nowhere in the text. Lines keep their numbers. Imports and runs
nothing of the files.
"""

from __future__ import annotations

import ast
import base64
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .expected import TABLE
from .seen_names import behind, leaves
from .test_source import (
    FUNCTIONS,
    TestSource,
    end_of,
    is_literal,
    name_of,
    names_in,
    replacing,
    start_of,
    wrapping,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .test_source import Edit, Function

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)
# How a side of a comparison is made false; what denies has none that would make it false.
_ORDER = (ast.In, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_KINDS = {ast.Eq: "value", ast.Is: "value", **dict.fromkeys(_ORDER, "unlike")}
# The same of assertions that are called; the others are negated as a whole.
_CALLED = {
    **dict.fromkeys(("equal", "equals", "is"), "value"),
    **dict.fromkeys(("in", "less", "lessequal", "greater", "greaterequal"), "unlike"),
}


def main() -> None:
    """Read the files that one JSON document holds, and write what they expect to another."""
    asked, answered = sys.argv[1:]
    with open(asked, encoding="utf-8") as file:
        files = json.load(file)
    found = read({path: base64.b64decode(text) for path, text in files.items()})
    with open(answered, "w", encoding="utf-8") as file:
        json.dump(found, file)


def read(files: dict[str, bytes]) -> dict[str, Any]:
    """Give the rewritten files, the literals in them, and by its node what a function expects.

    A file that cannot be read or rewritten is left out.
    """
    finders = list(_finders(files))
    names = {name for finder in finders for node in finder.expected for name in names_in(node)}
    trees = [finder.source.tree for finder in finders]
    texts: dict[str, str] = {}
    literals: list[str] = []
    functions: dict[str, dict[str, Any]] = {}
    for finder, values in zip(finders, behind(trees, names)):  # noqa: B905 (Python 3.8)
        path = finder.source.path
        with suppress(*_UNREADABLE):
            own = _Rewriting(finder, [*finder.expected, *values], len(literals))
            texts[path] = base64.b64encode(own.text()).decode()
            literals += own.literals
            for name, (node, marks) in finder.source.functions.items():
                functions[f"{path}::{name}"] = own.of(node, marks)
    return {"texts": texts, "literals": literals, "functions": functions}


def _finders(files: dict[str, bytes]) -> Iterator[_Finder]:
    sources = []
    for path, content in sorted(files.items()):
        with suppress(*_UNREADABLE):
            sources.append(TestSource(path, content))
    defined = {name for source in sources for name in source.defined}
    for source in sources:
        with suppress(*_UNREADABLE):
            yield _Finder(source, defined)


class _Finder(ast.NodeVisitor):
    """Find the expectations of a file: literals that are compared, and by its kind what to wrap.

    `expected` are all expressions that say what is expected; `defined` are the functions of the
    files that are read, whose own assertions are found where they stand.
    """

    def __init__(self, source: TestSource, defined: set[str]) -> None:
        self.source = source
        self.expected: list[ast.expr] = []
        self.literals: list[ast.expr] = []
        self.wrapped: dict[ast.expr, str] = {}
        self._defined = defined
        self.visit(source.tree)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._condition(node.test)

    def visit_If(self, node: ast.If) -> None:
        if any(map(_fails, node.body)):
            self._wrap(node.test, "truth")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self._wrap(node.type, "error")
        for statement in node.body:
            self.visit(statement)

    def visit_Call(self, call: ast.Call) -> None:
        name = name_of(call).lower().replace("_", "")
        errors = [
            *call.args[:1],
            *(w.value for w in call.keywords if w.arg == "expected_exception"),
        ]
        if errors and ("raises" in name or "warns" in name):
            self._wrap(errors[0], "error")
            self.expected += [*call.args[1:], *(word.value for word in call.keywords)]
        elif name.startswith("assert") and name_of(call) not in {*self._defined, "AssertionError"}:
            self._assertion(call, name[len("assert") :])
        else:
            self.generic_visit(call)

    def _assertion(self, call: ast.Call, name: str) -> None:
        is_equal = name.endswith("equal") and not name.startswith(("not", "almost"))
        kind = _CALLED.get(name, "value" if is_equal else None)
        if kind is not None and len(call.args) >= 2:
            self._pair(call.args[0], call.args[1], kind)
        elif call.args and name in ("", "true"):
            self._condition(call.args[0])
        else:
            self._wrap(call.func, "call")
            self.expected += [*call.args, *(word.value for word in call.keywords)]

    def _condition(self, test: ast.expr) -> None:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            for value in test.values:
                self._condition(value)
        elif isinstance(test, ast.Compare) and any(type(each) in _KINDS for each in test.ops):
            operands = [test.left, *test.comparators]
            for operator, left, right in zip(test.ops, operands, operands[1:]):  # noqa: B905 (Python 3.8)
                if type(operator) in _KINDS:
                    self._pair(left, right, _KINDS[type(operator)])
        else:
            self._wrap(test, "truth")

    def _pair(self, left: ast.expr, right: ast.expr, kind: str) -> None:
        """Take what one comparison expects: a literal, else what stands where it mostly does."""
        self._wrap(left if is_literal(left) and not is_literal(right) else right, kind)

    def _wrap(self, node: ast.expr, kind: str) -> None:
        if name_of(node) == "approx" and isinstance(node, ast.Call) and node.args:
            # Its tolerance is part of what is compared.
            node = node.args[0]
        node = node.value if isinstance(node, ast.Starred) else node
        self.expected.append(node)
        if kind == "value" and is_literal(node):
            self.literals.append(node)
        elif not isinstance(node, (ast.Yield, ast.YieldFrom)):
            self.wrapped.setdefault(node, kind)


def _fails(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return name_of(statement.exc) == "AssertionError"
    return isinstance(statement, ast.Expr) and name_of(statement.value) == "fail"


class _Rewriting:
    """Hold what a file becomes: its literals are numbered from a first one on."""

    def __init__(self, finder: _Finder, seen: list[ast.expr], first: int) -> None:
        self._finder = finder
        self._first = first
        hidden = [leaf for node in seen for leaf in leaves(node)]
        self._own = set(finder.literals)
        self._nodes = [*dict.fromkeys([*finder.literals, *hidden])]
        self.literals = [repr(ast.literal_eval(node)) for node in self._nodes]

    def text(self) -> bytes:
        """Give the file with every expectation looked up."""
        edits: list[Edit] = []
        for number, node in enumerate(self._nodes, self._first):
            look = f".own({number})" if node in self._own else f"[{number}]"
            edits += replacing(node, TABLE + look)
        for node, kind in self._finder.wrapped.items():
            look = f"{TABLE}.call(" if kind == "call" else f'{TABLE}.of("{kind}", '
            edits += wrapping(node, look)
        return self._finder.source.rewritten(edits)

    def of(self, function: Function, marks: list[ast.expr]) -> dict[str, Any]:
        """Give the literals a function expects, plain ones, and whether there is more."""
        numbers = {
            n: i for i, n in enumerate(self._nodes, self._first) if n in self._finder.literals
        }
        own = {node: number for node, number in numbers.items() if _is_in(function, node)}
        plain = _plain(function) if all(map(_is_pytests, marks)) else []
        more = not own or any(_is_in(function, node) for node in self._finder.wrapped)
        return {
            "sites": list(own.values()),
            "plain": [own[node] for node in plain if node in own],
            "more": more,
        }


def _is_in(function: Function, node: ast.expr) -> bool:
    first = function.body[0]
    start = (first.lineno, first.col_offset)
    end = (function.end_lineno or 0, function.end_col_offset or 0)
    return start <= start_of(node) and end_of(node) <= end


def _is_pytests(decorator: ast.expr) -> bool:
    while isinstance(decorator, (ast.Call, ast.Attribute)):
        decorator = decorator.func if isinstance(decorator, ast.Call) else decorator.value
    return isinstance(decorator, ast.Name) and decorator.id == "pytest"


def _plain(function: Function) -> list[ast.expr]:
    """Give what is unconditionally compared for equality at a test's top level."""
    found: list[ast.expr] = []
    for statement in function.body if isinstance(function, ast.FunctionDef) else ():
        if not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            found += _plainly_expected(statement)
            leaves_it = (ast.Return, ast.Yield, ast.YieldFrom)
            if any(isinstance(each, leaves_it) for each in ast.walk(statement)):
                break
    return found


def _plainly_expected(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        compared = statement.test
        if len(compared.ops) == 1 and isinstance(compared.ops[0], (ast.Eq, ast.Is)):
            return [compared.left, compared.comparators[0]]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and name_of(call) in ("assertEqual", "assertEquals"):
        return call.args[:2]
    return []


if __name__ == "__main__":
    main()

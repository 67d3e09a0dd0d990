"""The expectations of test files: where they stand, and the files with each of them looked up.

An expectation is the expected side of an assertion, the exception that is expected, or, where there
is none of these, the truth of the condition. In the rewritten text each goes through a table that
whoever starts the run hands in, so that true and false runs read the same. All other literals that
tell something are handed in too, for any of them may be what is expected, and stand nowhere in the
text. Lines keep their numbers. Imports and runs nothing of the files.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .expected import TABLE
from .near_sites import ModuleNames, NearSites
from .test_source import TestSource, is_literal, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    Function = ast.FunctionDef | ast.AsyncFunctionDef

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, LookupError)
# How a side of a comparison is made false; what denies has none that would make it false.
_ORDER = (ast.In, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_KINDS = {ast.Eq: "value", ast.Is: "value", **dict.fromkeys(_ORDER, "unlike")}
# The same of assertions that are called; the others are negated as a whole.
_CALLED = {
    **dict.fromkeys(("equal", "equals", "is"), "value"),
    **dict.fromkeys(("in", "less", "lessequal", "greater", "greaterequal"), "unlike"),
}
# Fields of a node that stay as they are: what is no expression there, or is not computed.
_STAYS = ("annotation", "returns", "pattern")


def answer(files: dict[str, str]) -> dict[str, Any]:
    """Say what the tests of files expect; a character of their texts stands for a byte."""
    return read({path: text.encode("latin-1") for path, text in files.items()})


def read(files: dict[str, bytes]) -> dict[str, Any]:
    """Give the rewritten files, the literals in them, and by its node what a function expects.

    A file that cannot be read or rewritten is left out.
    """
    sources = {}
    for path, content in sorted(files.items()):
        with suppress(*_UNREADABLE):
            sources[path] = TestSource(content)
    defined = {name for source in sources.values() for name in source.defined}
    texts: dict[str, str] = {}
    literals: list[str] = []
    functions: dict[str, dict[str, Any]] = {}
    for path, source in sources.items():
        with suppress(*_UNREADABLE):
            found = _Rewriting(source, defined, len(literals))
            texts[path] = source.rewritten().decode("latin-1")
            literals += found.literals
            for name, has in found.functions.items():
                functions[f"{path}::{name}"] = {**has, "more": has["more"] or not has["sites"]}
    return {"texts": texts, "literals": literals, "functions": functions}


class _Rewriting(ast.NodeVisitor):
    """Find the expectations of a file and look each up; its literals are numbered from a first on.

    `defined` are the functions of the files that are read, whose own assertions are found where
    they stand. `functions` say of each the literals it expects, plain ones, and whether it
    expects more.
    """

    def __init__(self, source: TestSource, defined: set[str], first: int) -> None:
        self.literals: list[str] = []
        self.functions: dict[str, dict[str, Any]] = {}
        self._source = source
        self._defined = defined
        self._first = first
        self._seen: set[ast.expr] = set()
        self._own: set[ast.expr] = set()
        # Where it is: the class, with the marks on it, and the function that is no part of another.
        self._above = ""
        self._marks: list[ast.expr] = []
        self._function: dict[str, Any] | None = None
        self._plain: list[ast.expr] = []
        self._outer: list[tuple[dict[str, Any], Function]] = []
        # Where each part of a literal stands: its number, and the way to it.
        self._places: dict[ast.expr, tuple[int, list[int]]] = {}
        self.visit(source.tree)
        for node in _leaves(source.tree):
            if node not in self._own:
                self._look_up(node, "[{}]")
        names = ModuleNames(source.tree)
        for has, function in self._outer:
            sites = NearSites(function, names)
            has["near"] = self._placed(sites.alone())
            has["rows"] = [self._placed(row) for row in sites.rows()]

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        around = self._above, self._marks
        if self._function is None:
            self._above += f"{node.name}::"
            self._marks = [*self._marks, *node.decorator_list]
        self.generic_visit(node)
        self._above, self._marks = around

    def visit_FunctionDef(self, node: Function) -> None:
        is_outer = self._function is None
        if is_outer:
            self._function = {"sites": [], "plain": [], "more": False}
            self.functions[self._above + node.name] = self._function
            self._outer.append((self._function, node))
            is_pytests = all(map(_is_pytests, [*self._marks, *node.decorator_list]))
            self._plain = _plain(node) if is_pytests else []
        self.generic_visit(node)
        if is_outer:
            self._function = None

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 (so called by ast)

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
        words = (word.value for word in call.keywords if word.arg == "expected_exception")
        errors = [*call.args[:1], *words]
        if errors and ("raises" in name or "warns" in name):
            self._wrap(errors[0], "error")
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
        if node in self._seen or isinstance(node, (ast.Yield, ast.YieldFrom)):
            return
        self._seen.add(node)
        has = self._function or {"sites": [], "plain": []}
        if kind == "value" and is_literal(node):
            self._own.add(node)
            number = self._look_up(node, ".own({})")
            has["sites"].append(number)
            has["plain"] += [number] if node in self._plain else []
        else:
            has["more"] = True
            self._source.wrap(node, TABLE + (".call(" if kind == "call" else f'.of("{kind}", '))

    def _look_up(self, node: ast.expr, how: str) -> int:
        """Let a literal be looked up, and give its number."""
        number = self._first + len(self.literals)
        self.literals.append(repr(ast.literal_eval(node)))
        self._source.replace(node, TABLE + how.format(number))
        self._place(node, number, [])
        return number

    def _place(self, node: ast.expr, number: int, way: list[int]) -> None:
        self._places[node] = number, way
        parts = getattr(node, "elts", None) or getattr(node, "values", [])
        for turn, part in enumerate([] if isinstance(node, ast.Set) else parts):
            self._place(part, number, [*way, turn])

    def _placed(self, nodes: list[ast.expr]) -> list[tuple[int, list[int]]]:
        return [self._places[node] for node in nodes if node in self._places]


def _fails(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise) and statement.exc is not None:
        return name_of(statement.exc) == "AssertionError"
    return isinstance(statement, ast.Expr) and name_of(statement.value) == "fail"


def _is_pytests(decorator: ast.expr) -> bool:
    while isinstance(decorator, (ast.Call, ast.Attribute)):
        decorator = decorator.func if isinstance(decorator, ast.Call) else decorator.value
    return isinstance(decorator, ast.Name) and decorator.id == "pytest"


def _plain(function: Function) -> list[ast.expr]:
    """Give what is unconditionally compared for equality at a test's top level."""
    found: list[ast.expr] = []
    for statement in function.body if isinstance(function, ast.FunctionDef) else ():
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
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


def _leaves(tree: ast.Module) -> Iterator[ast.expr]:
    """Give the literals of a file; those in an f-string have no place of their own.

    Nothing is told by what is true, false or none, and a text by itself documents something.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.expr) and is_literal(node):
            constants = (each for each in ast.walk(node) if isinstance(each, ast.Constant))
            if any(not isinstance(each.value, (bool, type(None))) for each in constants):
                yield node
        elif not _is_text(node):
            stays = [getattr(node, name, None) for name in _STAYS]
            waiting += [each for each in ast.iter_child_nodes(node) if each not in stays]


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return type(node).__name__ in ("JoinedStr", "TemplateStr")

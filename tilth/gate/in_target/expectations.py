"""The expectations of test files: where they stand, and the files with each of them handed in.

An expectation is the expected side of an assertion: its literals, wherever they are written, the
exception that is expected, or, where there is none of these, the truth of the condition. In the
rewritten text each is a look into a table that whoever starts the run hands in, so that true and
false runs read the same. Lines keep their numbers. Imports and runs nothing of the files.
"""

from __future__ import annotations

import ast
import base64
import json
import sys
from typing import TYPE_CHECKING, Any

from .expected_literals import EVERY_CASE, ExpectedLiterals
from .test_source import TestSource, end_of, is_literal, name_of, names_in, own_nodes, start_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .test_source import TestFunction

TABLE = "_tilth_expected"
_DEEPEST = 4
# What assertions of unittest compare by; all others take any literal.
_LIKE = {
    "Equal": ast.Eq,
    "Equals": ast.Eq,
    "In": ast.In,
    "Is": ast.Is,
    "Less": ast.Lt,
    "LessEqual": ast.LtE,
    "Greater": ast.Gt,
    "GreaterEqual": ast.GtE,
}
_OF_VALUES = ("value", "absent", "above", "below")


def main() -> None:
    """Read the files that one JSON document holds, and write what they expect to another."""
    asked, answered = sys.argv[1:]
    with open(asked, encoding="utf-8") as file:
        files = json.load(file)
    found = read({path: base64.b64decode(text) for path, text in files.items()})
    with open(answered, "w", encoding="utf-8") as file:
        json.dump(found, file)


def read(files: dict[str, bytes]) -> dict[str, Any]:
    """Give the rewritten files, all sites, and by its node the sites of each function.

    A site says where it stands, what is true there and how it is made false. A file that does not
    parse is left out.
    """
    sources = {}
    for path, content in sorted(files.items()):
        try:
            sources[path] = TestSource(path, content)
        except (SyntaxError, ValueError, RecursionError, MemoryError, LookupError):
            continue
    reading = _Reading(sources)
    functions = {
        f"{source.path}::{name}": reading.of(function)
        for source in sources.values()
        for name, function in reading.functions_of(source)
    }
    texts = {
        path: source.rewritten((site.node, site.text()) for site in reading.sites_of(source))
        for path, source in sources.items()
    }
    return {
        "texts": {path: base64.b64encode(text).decode() for path, text in texts.items()},
        "sites": [site.record() for site in reading.sites],
        "functions": {node: found for node, found in functions.items() if found},
    }


class _Site:
    """Hold one expectation: its place, how it is made false, and whether each call looks it up."""

    def __init__(self, number: int, source: TestSource, node: ast.expr, kind: str) -> None:
        self.number = number
        self.source = source
        self.node = node
        self.kind = kind
        self.in_call = True

    def record(self) -> dict[str, Any]:
        true = repr(ast.literal_eval(self.node)) if self.kind in _OF_VALUES else ""
        where = {"path": self.source.path, "line": self.node.lineno}
        return {**where, "kind": self.kind, "true": true, "in_call": self.in_call}

    def text(self) -> str:
        """Give what stands in the place of the expression, on as many lines."""
        look, own = f"{TABLE}[{self.number}]", self.source.text_of(self.node)
        if self.kind in _OF_VALUES:
            lines = own.count("\n")
            return f"({look}{chr(10) * lines})" if lines else look
        if self.kind == "truth":
            return f"((not ({own})) is {look})"
        return f"({look} or ({own}))"


class _Reading:
    """Find the sites of one function after another; one that several share is made once."""

    def __init__(self, sources: dict[str, TestSource]) -> None:
        self._sources = sources
        self.sites: list[_Site] = []
        self._by_source: dict[str, list[_Site]] = {path: [] for path in sources}
        self._known: dict[tuple[str, int, int], _Site] = {}
        self._asserted: dict[int, _Finder] = {}

    def functions_of(self, source: TestSource) -> Iterator[tuple[str, TestFunction]]:
        """Give the functions of a file by their names, inherited methods last."""
        yield from source.functions.items()
        for title in source.classes:
            for name, function in self._inherited(source, title, 0).items():
                if f"{title}::{name}" not in source.functions:
                    yield f"{title}::{name}", function

    def _inherited(self, source: TestSource, title: str, depth: int) -> dict[str, TestFunction]:
        """Give the methods that a class has from the classes it is made from."""
        found: dict[str, TestFunction] = {}
        for base in reversed(source.classes[title].bases) if depth < _DEEPEST else ():
            for other in self._homes(source, name_of(base)):
                if name_of(base) in other.classes:
                    found.update(self._inherited(other, name_of(base), depth + 1))
                    found.update(_methods(other, name_of(base)))
                    break
        return found

    def _homes(self, source: TestSource, name: str) -> Iterator[TestSource]:
        """Give the files in which a name of a file may be defined."""
        yield source
        module = source.imported.get(name)
        ends = (f"/{module}.py", f"/{module}/__init__.py")
        for path, other in self._sources.items() if module else ():
            if f"/{path}".endswith(ends):
                yield other

    def sites_of(self, source: TestSource) -> list[_Site]:
        return self._by_source[source.path]

    def of(self, function: TestFunction) -> dict[str, Any] | None:
        """Give the sites of a function; `cases` are those of one of its cases alone."""
        finder = self._own(function)
        sites, cases = finder.found, finder.cases
        if not sites and not cases:
            sites = self._of_helpers(function, 0)
        if not sites and not cases:
            return None
        return {
            "sites": list(dict.fromkeys(site.number for site in sites)),
            "rows": finder.rows,
            "plain": [site.number for site in sites if _is_plain(function, site)],
            "cases": {case: [site.number for site in found] for case, found in cases.items()},
        }

    def _own(self, function: TestFunction) -> _Finder:
        if id(function) not in self._asserted:
            self._asserted[id(function)] = _Finder(self, function)
        return self._asserted[id(function)]

    def _of_helpers(self, function: TestFunction, depth: int) -> list[_Site]:
        """Give the sites of what a function calls, where it has none itself."""
        found: list[_Site] = []
        for node in ast.walk(function.node) if depth < _DEEPEST else ():
            callee = self.helper(function, node.func) if isinstance(node, ast.Call) else None
            if callee is not None and callee is not function:
                found += self._own(callee).found or self._of_helpers(callee, depth + 1)
        return found

    def helper(self, function: TestFunction, func: ast.expr) -> TestFunction | None:
        """Find a function of the files by the way it is called: by its name, or as a method."""
        source = function.source
        if isinstance(func, ast.Name):
            homes = self._homes(source, func.id)
            return next((h.functions[func.id] for h in homes if func.id in h.functions), None)
        if isinstance(func, ast.Attribute) and function.owner is not None:
            own = isinstance(func.value, ast.Name) and func.value.id in ("self", "cls")
            return source.functions.get(f"{function.owner.name}::{func.attr}") if own else None
        return None

    def site(self, source: TestSource, node: ast.expr, kind: str, *, in_call: bool = True) -> _Site:
        key = (source.path, *start_of(node))
        if key not in self._known:
            made = self._known[key] = _Site(len(self.sites), source, node, kind)
            made.in_call = in_call
            self.sites.append(made)
            self._by_source[source.path].append(made)
        return self._known[key]


def _methods(source: TestSource, title: str) -> dict[str, TestFunction]:
    start = f"{title}::"
    return {
        name[len(start) :]: function
        for name, function in source.functions.items()
        if name.startswith(start)
    }


def _is_plain(function: TestFunction, site: _Site) -> bool:
    """Tell whether a site is an unconditional equality with a constant at a test's top level."""
    node = function.node
    if isinstance(node, ast.AsyncFunctionDef) or not all(map(_is_pytests, node.decorator_list)):
        return False
    for statement in node.body:
        if any(site.node is one for one in _plainly_expected(statement)):
            return is_literal(site.node)
        leaves = (ast.Return, ast.Yield, ast.YieldFrom)
        if any(isinstance(each, leaves) for each in [statement, *own_nodes(statement)]):
            return False
    return False


def _is_pytests(decorator: ast.expr) -> bool:
    while isinstance(decorator, (ast.Call, ast.Attribute)):
        decorator = decorator.func if isinstance(decorator, ast.Call) else decorator.value
    return isinstance(decorator, ast.Name) and decorator.id == "pytest"


def _plainly_expected(statement: ast.stmt) -> list[ast.expr]:
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        compared = statement.test
        if len(compared.ops) == 1 and isinstance(compared.ops[0], (ast.Eq, ast.Is)):
            return [compared.left, compared.comparators[0]]
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and name_of(call) in ("assertEqual", "assertEquals"):
        return call.args[:2]
    return []


class _Finder:
    """Hold the expectations of one function; `cases` are those in rows of `parametrize`."""

    def __init__(self, reading: _Reading, function: TestFunction) -> None:
        self._reading = reading
        self._function = function
        self._literals = ExpectedLiterals(function)
        self.cases: dict[int, list[_Site]] = {}
        # Those that every case of the function has.
        self.found = list(dict.fromkeys(self._sites()))
        self.rows = self._literals.rows

    def _sites(self) -> Iterator[_Site]:
        for node in ast.walk(self._function.node):
            if isinstance(node, ast.Assert):
                yield from self._of_condition(node.test)
            elif isinstance(node, ast.Expr):
                call = node.value.value if isinstance(node.value, ast.Await) else node.value
                if isinstance(call, ast.Call):
                    yield from self._of_call(call)
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                for item in node.items:
                    yield from self._of_expected_error(item.context_expr)

    def _of_condition(self, test: ast.expr) -> list[_Site]:
        found: list[_Site] = []
        before = sum(map(len, self.cases.values()))
        for part in _conjuncts(test):
            if isinstance(part, ast.Compare):
                operands = [part.left, *part.comparators]
                for operator, left, right in zip(part.ops, operands, operands[1:]):  # noqa: B905 (Python 3.8)
                    found += self._of_pair(operator, left, right)
        if found or sum(map(len, self.cases.values())) > before:
            return found
        return self._wrapped(test, "truth")

    def _of_pair(self, operator: ast.cmpop, left: ast.expr, right: ast.expr) -> list[_Site]:
        """Give what one comparison expects; of the two sides the one that looks like it more."""
        if isinstance(operator, (ast.NotEq, ast.IsNot, ast.NotIn)):
            return []
        kinds = ("value", "value")
        if isinstance(operator, (ast.Lt, ast.LtE)):
            kinds = ("above", "below")
        elif isinstance(operator, (ast.Gt, ast.GtE)):
            kinds = ("below", "above")
        elif isinstance(operator, ast.In):
            kinds = ("absent", "value")
        rank, side = max((self._rank(left, right), 0), (self._rank(right, left), 1))
        return self._resolved((left, right)[side], kinds[side]) if rank else []

    def _of_call(self, call: ast.Call) -> list[_Site]:
        """Give what a statement expects that calls an assertion of unittest or of a helper."""
        name = name_of(call)
        helper = self._reading.helper(self._function, call.func)
        if _expects_error(call):
            return self._of_expected_error(call)
        if "assert" not in name.lower() and (helper is None or not _asserts(helper)):
            return []
        kind = name[len("assert") :]
        if name in ("assertTrue", "assert_") and call.args:
            return self._of_condition(call.args[0])
        if name == "assertFalse" and call.args:
            return self._wrapped(call.args[0], "truth")
        if kind in ("IsNone", "IsInstance", "IsSubclass") and call.args:
            return self._wrapped(call.args[-1] if kind != "IsNone" else call.args[0], "instead")
        if kind in _LIKE and len(call.args) >= 2:
            return self._of_pair(_LIKE[kind](), call.args[0], call.args[1])
        operands = [*call.args, *(word.value for word in call.keywords if word.arg != "msg")]
        ranked = [(self._rank(each, None), index) for index, each in enumerate(operands)]
        rank, index = max(ranked, default=(0, 0))
        return self._resolved(operands[index], "value") if rank else []

    def _of_expected_error(self, call: ast.expr) -> list[_Site]:
        if not isinstance(call, ast.Call) or not _expects_error(call):
            return []
        found = self._wrapped(call.args[0], "instead")
        for word in call.keywords:
            if word.arg in ("match", "expected_regex"):
                found += self._resolved(word.value, "absent")
        return found

    def _wrapped(self, node: ast.expr, kind: str) -> list[_Site]:
        """Make a site of a whole expression, unless parts of it are sites already."""
        own = self._reading.sites_of(self._function.source)
        inside = [site for site in own if start_of(node) <= start_of(site.node) < end_of(node)]
        return inside or [self._reading.site(self._function.source, node, kind)]

    def _rank(self, node: ast.expr, other: ast.expr | None) -> int:
        """Say how much an operand looks like what is expected: 0 if nothing can be made false."""
        if is_literal(node):
            return 4
        if other is not None and names_in(node) & names_in(other):
            # What goes into both sides may be changed on both and nobody notices.
            return 0
        if not self._literals.of(node):
            return 0
        if isinstance(node, (ast.Name, ast.Attribute)):
            return 3
        return 2 if isinstance(node, (ast.Tuple, ast.List, ast.Dict, ast.Set)) else 1

    def _resolved(self, node: ast.expr, kind: str) -> list[_Site]:
        found = []
        for literal in self._literals.of(node):
            source = self._function.source
            site = self._reading.site(source, literal.node, kind, in_call=literal.in_call)
            if literal.case == EVERY_CASE:
                found.append(site)
            elif site not in self.cases.setdefault(literal.case, []):
                self.cases[literal.case].append(site)
        return found


def _conjuncts(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _conjuncts(value)
    else:
        yield test


def _expects_error(call: ast.Call) -> bool:
    name = name_of(call).lower()
    return bool(call.args) and ("raises" in name or "warns" in name)


def _asserts(helper: TestFunction) -> bool:
    """Tell whether a helper judges what it is given."""
    return any(
        isinstance(node, (ast.Assert, ast.Raise))
        or (isinstance(node, ast.Call) and name_of(node).startswith("assert"))
        for node in ast.walk(helper.node)
    )


if __name__ == "__main__":
    main()

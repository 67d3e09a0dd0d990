"""What a pristine seed test holds, by its syntax tree alone.

Says which tests must run and which of them may be skipped or expected to fail, because the file
says so itself. Never imports or runs a test.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tilth.values import Value

_SKIPPING = frozenset(
    {
        "skip",
        "skipif",
        "xfail",
        "importorskip",
        "skipTest",
        "SkipTest",
        "skipIf",
        "skipUnless",
        "expectedFailure",
    }
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Pristine(Value):
    """Hold the tests of one file as `function` or `Class::method`, and which may be skipped."""

    path: str
    tests: tuple[str, ...]
    may_skip: frozenset[str] = frozenset()
    all_may_skip: bool = False

    def excuses(self, test: str) -> bool:
        """Tell whether the file itself lets a test be skipped or expected to fail."""
        return self.all_may_skip or test in self.may_skip

    def owns(self, node: str) -> bool:
        """Tell whether a pytest node id belongs to this file."""
        return node == self.path or node.startswith(f"{self.path}::")


def read_pristine(path: str, content: bytes) -> Pristine:
    """Read one seed test; a file that does not parse holds no test, and pytest says why."""
    try:
        module = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return Pristine(path=path, tests=())
    tests = dict(_tests(module))
    return Pristine(
        path=path,
        tests=tuple(tests),
        may_skip=frozenset(name for name, skips in tests.items() if skips),
        all_may_skip=_module_skips(module),
    )


def function_of(node: str) -> str:
    """Give `Class::method` of a node id such as `tests/test_a.py::Class::method[1]`."""
    return node.partition("::")[2].partition("[")[0]


def _tests(module: ast.Module) -> Iterator[tuple[str, bool]]:
    if _is_off(module.body):
        return
    for item in module.body:
        if isinstance(item, _Function) and _is_test(item):
            yield item.name, _skips(item)
        elif isinstance(item, ast.ClassDef) and _is_test_class(item):
            marked = any(_skips(part) for part in [*item.decorator_list, *_marks(item.body)])
            for method in item.body:
                if isinstance(method, _Function) and _is_test(method):
                    yield f"{item.name}::{method.name}", marked or _skips(method)


def _is_test(function: _Function) -> bool:
    return function.name.startswith("test") and not any(
        "fixture" in _names(decorator) for decorator in function.decorator_list
    )


def _is_test_class(item: ast.ClassDef) -> bool:
    if _is_off(item.body):
        return False
    if any(name.endswith("TestCase") for base in item.bases for name in _names(base)):
        return True
    # pytest passes over a class that has an __init__ of its own.
    made = any(isinstance(part, _Function) and part.name == "__init__" for part in item.body)
    return item.name.startswith("Test") and not made


def _is_off(body: list[ast.stmt]) -> bool:
    """Tell whether a body says `__test__ = False`."""
    return any(
        isinstance(item, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == "__test__" for t in item.targets)
        and isinstance(item.value, ast.Constant)
        and item.value.value is False
        for item in body
    )


def _marks(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for item in body:
        if isinstance(item, ast.Assign | ast.AnnAssign) and "pytestmark" in _names(item):
            yield item


def _module_skips(module: ast.Module) -> bool:
    """Tell whether a mark, a call or a fixture at the file's top level can skip any test."""
    return any(_skips(item) for item in module.body if not _holds_tests(item))


def _holds_tests(item: ast.stmt) -> bool:
    if isinstance(item, ast.ClassDef):
        return True
    return isinstance(item, _Function) and _is_test(item)


def _skips(node: ast.AST) -> bool:
    return not _SKIPPING.isdisjoint(_names(node))


def _names(node: ast.AST) -> set[str]:
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
    return found

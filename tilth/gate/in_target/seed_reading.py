"""What a seed test holds, by its syntax tree alone, as the interpreter that runs it reads it.

Says which tests must run, where they stand, and which of them may be skipped or expected to fail
because the file says so itself. Never imports or runs a test.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import Any

# How names begin that skip a test or expect it to fail, of pytest and of unittest.
_SKIPPING = re.compile("skip|xfail|importorskip|expectedFailure", re.IGNORECASE)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def answer(files: dict[str, str]) -> dict[str, Any]:
    """Say what files hold; a character of their texts stands for a byte."""
    return {path: read(text.encode("latin-1")) for path, text in files.items()}


def read(content: bytes) -> dict[str, Any]:
    """Read one file; one that does not parse holds no test and says why."""
    try:
        module = ast.parse(content)
    except SyntaxError as error:
        return {"error": f"line {error.lineno}: {error.msg}"}
    except (ValueError, RecursionError, MemoryError) as error:
        return {"error": str(error)}
    tests = list(_tests(module))
    return {
        "tests": [name for name, _, _ in tests],
        "marked": [name for name, _, marks in tests if any(map(_skips, marks))],
        "skipping": {name: _skipping_lines(function) for name, function, _ in tests},
        "spans": {name: _span(function) for name, function, _ in tests},
        "skip_lines": sorted(set(_skip_lines(module))),
        "comments": dict(_comments(content)),
    }


def _tests(module: ast.Module) -> Iterator[tuple[str, Any, list[ast.AST]]]:
    """Give the tests, and what may mark them: decorators and `pytestmark`, also around them."""
    if _is_off(module.body):
        return
    top = _marks(module.body)
    for item in module.body:
        if isinstance(item, _FUNCTIONS) and _is_test(item):
            yield item.name, item, [*top, *item.decorator_list]
        elif isinstance(item, ast.ClassDef) and _is_test_class(item):
            own = [*top, *item.decorator_list, *_marks(item.body)]
            for method in item.body:
                if isinstance(method, _FUNCTIONS) and _is_test(method):
                    yield f"{item.name}::{method.name}", method, [*own, *method.decorator_list]


def _is_test(function: Any) -> bool:
    return bool(function.name.startswith("test")) and not any(
        "fixture" in _names(decorator) for decorator in function.decorator_list
    )


def _is_test_class(item: ast.ClassDef) -> bool:
    if _is_off(item.body):
        return False
    if any(name.endswith("TestCase") for base in item.bases for name in _names(base)):
        return True
    # pytest passes over a class that has an __init__ of its own.
    made = any(isinstance(part, _FUNCTIONS) and part.name == "__init__" for part in item.body)
    return item.name.startswith("Test") and not made


def _is_off(body: list[ast.stmt]) -> bool:
    """Tell whether a body says `__test__ = False`."""
    assigned = (item for item in body if isinstance(item, ast.Assign))
    return any(
        "__test__" in _names(item)
        and isinstance(item.value, ast.Constant)
        and item.value.value is False
        for item in assigned
    )


def _marks(body: list[ast.stmt]) -> list[ast.AST]:
    assigned = (item for item in body if isinstance(item, (ast.Assign, ast.AnnAssign)))
    return [item for item in assigned if "pytestmark" in _names(item)]


def _skipping_lines(function: Any) -> list[int]:
    """Give the lines of a test's own body that skip it or expect it to fail."""
    return sorted(
        {
            node.lineno
            for part in function.body
            for node in ast.walk(part)
            if isinstance(node, (ast.Call, ast.Raise)) and _skips(node)
        }
    )


def _skips(node: ast.AST) -> bool:
    return any(map(_SKIPPING.match, _names(node)))


def _names(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names | {part.attr for part in parts if isinstance(part, ast.Attribute)}


def _span(function: Any) -> tuple[int, int]:
    first = min([function.lineno, *(part.lineno for part in function.decorator_list)])
    return first, function.end_lineno or function.lineno


def _skip_lines(module: ast.Module) -> Iterator[int]:
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and _SKIPPING.match(node.attr):
            root: Any = node
            while isinstance(root, ast.Attribute):
                root = root.value
            # A project may well have something of its own that is called skip.
            if isinstance(root, ast.Name) and root.id in ("pytest", "unittest"):
                yield node.lineno


def _comments(content: bytes) -> Iterator[tuple[int, str]]:
    # The tokenizer's first use is dear. A file in another encoding than UTF-8 says so in a comment.
    if b"#" not in content:
        return
    try:
        for token in tokenize.tokenize(io.BytesIO(content).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    except (tokenize.TokenError, SyntaxError):
        return

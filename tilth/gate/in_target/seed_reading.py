"""What a seed test holds, by its syntax tree alone, as the interpreter that runs it reads it.

Says which tests must run, where they stand, and which of them may be skipped or expected to fail
because the file says so itself. Never imports or runs a test.
"""

from __future__ import annotations

import ast
import base64
import io
import tokenize
from collections.abc import Iterator
from typing import Any

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
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def answer(files: dict[str, str]) -> dict[str, Any]:
    """Say what files hold."""
    return {path: read(base64.b64decode(text)) for path, text in files.items()}


def read(content: bytes) -> dict[str, Any]:
    """Read one file; one that does not parse holds no test and says why."""
    try:
        module = ast.parse(content)
    except SyntaxError as error:
        return _unread(f"line {error.lineno}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        return _unread(str(error))
    tests = list(_tests(module))
    return {
        "error": None,
        "tests": [name for name, _, _ in tests],
        "marked": [name for name, _, marked in tests if marked],
        "skipping": {name: _skipping_lines(function) for name, function, _ in tests},
        "spans": {name: _span(function) for name, function, _ in tests},
        "skip_lines": sorted(set(_skip_lines(module))),
        "comments": dict(_comments(content)),
    }


def _unread(why: str) -> dict[str, Any]:
    return {"error": why, "tests": []}


def _tests(module: ast.Module) -> Iterator[tuple[str, ast.stmt, bool]]:
    """Give the tests, and whether a mark of their own may skip them or expect them to fail."""
    if _is_off(module.body):
        return
    every = any(_skips(part) for part in _marks(module.body))
    for item in module.body:
        if isinstance(item, _FUNCTIONS) and _is_test(item):
            yield item.name, item, every or _is_marked(item)
        elif isinstance(item, ast.ClassDef) and _is_test_class(item):
            marked = every or _is_marked(item) or any(_skips(part) for part in _marks(item.body))
            for method in item.body:
                if isinstance(method, _FUNCTIONS) and _is_test(method):
                    yield item.name + "::" + method.name, method, marked or _is_marked(method)


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
    return any(
        isinstance(item, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == "__test__" for t in item.targets)
        and isinstance(item.value, ast.Constant)
        and item.value.value is False
        for item in body
    )


def _marks(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for item in body:
        if isinstance(item, (ast.Assign, ast.AnnAssign)) and "pytestmark" in _names(item):
            yield item


def _is_marked(item: Any) -> bool:
    return any(_skips(part) for part in item.decorator_list)


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
    return not _SKIPPING.isdisjoint(_names(node))


def _names(node: ast.AST) -> set[str]:
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
    return found


def _span(function: Any) -> tuple[int, int]:
    first = min([function.lineno, *(part.lineno for part in function.decorator_list)])
    return first, function.end_lineno or function.lineno


def _skip_lines(module: ast.Module) -> Iterator[int]:
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and node.attr in _SKIPPING - {"skipTest"}:
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

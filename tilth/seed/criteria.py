"""Criteria in tests: which acceptance criteria a test file names, by its comments `# AC-<n>`."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tilth.gate.pristine import read_pristine

_NAMED = re.compile(r"\bAC-([0-9]+)\b")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def named_criteria(text: str) -> frozenset[int]:
    """Give the criteria that comments in, on or right above a test of this file name.

    A comment elsewhere names nothing: a list at the top of a file would prove no criterion.
    """
    comments = dict(_comments(text))
    lines = {line for first, last in _spans(text, set(comments)) for line in range(first, last + 1)}
    return frozenset(
        int(number)
        for line, comment in comments.items()
        if line in lines
        for number in _NAMED.findall(comment)
    )


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _spans(text: str, commented: set[int]) -> Iterator[tuple[int, int]]:
    """Give the lines of every test, with the comments that stand right above it."""
    tests = set(read_pristine("", text.encode("utf-8")).tests)
    for name, function in _functions(ast.parse(text)):
        if name not in tests:
            continue
        first = min([function.lineno, *(part.lineno for part in function.decorator_list)])
        while first - 1 in commented:
            first -= 1
        yield first, function.end_lineno or function.lineno


def _functions(module: ast.Module) -> Iterator[tuple[str, _Function]]:
    for item in module.body:
        if isinstance(item, _Function):
            yield item.name, item
        elif isinstance(item, ast.ClassDef):
            for method in item.body:
                if isinstance(method, _Function):
                    yield f"{item.name}::{method.name}", method

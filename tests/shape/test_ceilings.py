"""Ceilings on size, and words that must not stand in the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILE_LINES = 400
FUNCTION_LINES = 50

# The places that answer for everything: the tool boundary, the loop's edge and the command line's,
# where the code of a notification service runs, and where a case is proven, whatever it holds.
CATCH_ALL = {
    "tilth/loop.py",
    "tilth/gate/gate.py",
    "tilth/tools/registry.py",
    "tilth/cli/edge.py",
    "tilth/session/notify.py",
    "tilth/session/telemetry.py",
    "tilth/task/crew.py",
}

FORBIDDEN = {
    "an open end": re.compile(r"\b(TODO|FIXME|XXX)\b"),
    "a bare type-ignore": re.compile(r"#\s*type:\s*ignore(?!\[[a-z-]+)"),
    "a bare noqa": re.compile(r"#\s*(ruff:\s*)?noqa(?!:\s*[A-Z]+[0-9]+)", re.IGNORECASE),
}


def files(*directories: str) -> list[Path]:
    found = (path for name in directories for path in (ROOT / name).rglob("*.py"))
    return sorted(found)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Give all statements and handlers below a node; no expression holds any."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for each in getattr(node, name, ()):
            yield each
            yield from statements(each)


def long_functions(tree: ast.Module) -> Iterator[str]:
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{node.name} has {lines} lines"


def catch_alls(tree: ast.Module) -> Iterator[int]:
    """Give the line of every handler that could swallow anything at all."""
    for node in statements(tree):
        if isinstance(node, ast.ExceptHandler) and not _passes_on(node):
            names = ast.walk(node.type) if node.type else iter(())
            caught = {name.id for name in names if isinstance(name, ast.Name)}
            if node.type is None or caught & {"Exception", "BaseException"}:
                yield node.lineno


def _passes_on(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler only cleans up: its last word is a bare raise, and it never leaves."""
    last = handler.body[-1]
    leaves = any(isinstance(n, ast.Return | ast.Break | ast.Continue) for n in ast.walk(handler))
    return isinstance(last, ast.Raise) and last.exc is None and not leaves


def mock_imports(tree: ast.Module) -> list[str]:
    nodes = list(statements(tree))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    modules += [a.name for node in nodes if isinstance(node, ast.Import) for a in node.names]
    return [name for name in modules if name.split(".")[0] in ("unittest", "mock")]


def beyond_ceilings(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    if (lines := len(source.splitlines())) > FILE_LINES:
        yield f"the file has {lines} lines"
    yield from long_functions(tree)
    yield from (f"it imports {name}" for name in mock_imports(tree))


def open_ends(source: str) -> Iterator[str]:
    return (what for what, pattern in FORBIDDEN.items() if pattern.search(source))


def found_in(look: Callable[[str], Iterable[object]], *directories: str) -> dict[str, list[object]]:
    """Give what is found in the files of these directories, by file."""
    found = {name_of(path): list(look(path.read_text("utf-8"))) for path in files(*directories)}
    assert len(found) > 20
    return {name: what for name, what in found.items() if what}


def test_every_file_stays_below_the_ceilings_and_mocks_nothing() -> None:
    assert found_in(beyond_ceilings, "tilth", "tests", "bench") == {}


def test_no_file_leaves_an_open_end_or_silences_anything() -> None:
    assert found_in(open_ends, "tilth") == {}


def test_only_the_boundaries_catch_everything() -> None:
    found = found_in(lambda source: catch_alls(ast.parse(source)), "tilth")
    assert {name: len(lines) for name, lines in found.items()} == dict.fromkeys(CATCH_ALL, 1)


def test_a_long_function_is_found() -> None:
    body = "    pass\n" * FUNCTION_LINES
    assert list(long_functions(ast.parse(f"def f():\n{body}"))) == ["f has 51 lines"]


def test_statements_are_found_wherever_they_stand() -> None:
    for path in (Path(__file__), ROOT / "tilth" / "loop.py", ROOT / "tests" / "conftest.py"):
        tree = ast.parse(path.read_text("utf-8"))
        kinds = ast.stmt | ast.excepthandler
        walked = {id(node) for node in ast.walk(tree) if isinstance(node, kinds)}
        assert {id(node) for node in statements(tree) if isinstance(node, kinds)} == walked
    deep = "match x:\n case 1:\n  try:\n   pass\n  except* E:\n   for y in z:\n    pass\n   else:\n"
    deep += "    while 1:\n     async def f(): return\n  finally:\n   with a: import mock\n"
    assert [type(node).__name__ for node in statements(ast.parse(deep))] == [
        *("Match", "match_case", "TryStar", "Pass", "ExceptHandler", "For", "Pass", "While"),
        *("AsyncFunctionDef", "Return", "With", "Import"),
    ]


@pytest.mark.parametrize(
    "handler",
    ["except:", "except Exception:", "except (OSError, Exception):", "except BaseException:"],
)
def test_a_handler_for_everything_is_found(handler: str) -> None:
    assert list(catch_alls(ast.parse(f"try:\n    f()\n{handler}\n    pass\n"))) == [3]


@pytest.mark.parametrize(
    "handler",
    ["except (OSError, ValueError):\n    pass", "except BaseException:\n    g()\n    raise"],
)
def test_a_narrow_handler_is_fine_and_so_is_a_clean_up(handler: str) -> None:
    assert list(catch_alls(ast.parse(f"try:\n    f()\n{handler}\n"))) == []


def test_a_clean_up_that_may_leave_is_found() -> None:
    handler = "except BaseException:\n        if x:\n            return\n        raise"
    source = f"def f():\n    try:\n        g()\n    {handler}\n"
    assert list(catch_alls(ast.parse(source))) == [4]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("x = 1  # type: " + "ignore", True),
        ("x = 1  # type: " + "ignore[arg-type]  # the stub is wrong", False),
        ("x = 1  # no" + "qa", True),
        ("x = 1  # no" + "qa: S105  # not a password", False),
        ("# TO" + "DO later", True),
        ("todo = []", False),
    ],
)
def test_a_forbidden_word_is_told_from_an_innocent_one(line: str, found: bool) -> None:
    assert any(pattern.search(line) for pattern in FORBIDDEN.values()) is found


@pytest.mark.parametrize("line", ["import unittest.mock", "from unittest import mock"])
def test_an_import_of_mocks_is_found(line: str) -> None:
    assert mock_imports(ast.parse(line))

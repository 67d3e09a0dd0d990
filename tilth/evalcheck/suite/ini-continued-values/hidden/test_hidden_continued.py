"""What finished continued values do, and what they leave behind."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from inifile import IniError, dumps, loads


ROOT = Path(__file__).resolve().parents[1]
OPEN_END = re.compile(r"\b(TO[D]O|FIX[M]E|XX[X]|HACK|WIP)\b", re.IGNORECASE)


def sources():
    """Give the text of each of the project's modules, the tests left out."""
    paths = (p for p in ROOT.rglob("*.py") if "tests" not in p.relative_to(ROOT).parts)
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for p in sorted(paths)}


def nodes(source, *kinds):
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]


def comments(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string.lstrip("#").strip() for t in tokens if t.type == tokenize.COMMENT]


def is_code(comment):
    """Tell a statement that was commented out from words."""
    try:
        body = ast.parse(comment).body
    except SyntaxError:
        return False
    kinds = (ast.Assign, ast.AugAssign, ast.Return, ast.Raise, ast.Import, ast.ImportFrom)
    return any(
        isinstance(node, kinds) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in body
    )


def test_no_debugging_output_is_left():
    for name, source in sources().items():
        called = {
            node.func.id for node in nodes(source, ast.Call) if isinstance(node.func, ast.Name)
        }
        assert not called & {"print", "pprint", "breakpoint"}, name
        assert "sys.std" not in source, name


def test_no_open_end_and_no_code_in_comments_is_left():
    for name, source in sources().items():
        found = [c for c in comments(source) if OPEN_END.search(c) or is_code(c)]
        assert not found, name
        assert "NotImplemented" not in source, name


def test_no_branch_or_function_is_left_empty():
    for name, source in sources().items():
        for node in nodes(source, ast.If, ast.For, ast.While, ast.FunctionDef):
            for body in (node.body, getattr(node, "orelse", [])):
                assert not (body and isinstance(body[-1], ast.Pass)), f"{name}:{node.lineno}"


def test_nothing_is_left_that_nothing_uses():
    for name, source in sources().items():
        used = {node.id for node in nodes(source, ast.Name)}
        used |= {node.attr for node in nodes(source, ast.Attribute)}
        defined = {node.name for node in nodes(source, ast.FunctionDef) if private(node.name)}
        imports = nodes(source, ast.Import, ast.ImportFrom)
        if not name.endswith("__init__.py"):
            defined |= {a.asname or a.name for node in imports for a in node.names}
        assert not defined - used - {"annotations"}, name


def private(name):
    return name.startswith("_") and not name.startswith("__")


def test_a_continuation_is_taken_whatever_it_holds():
    text = "[a]\nk = x\n  y = 1\n  [b]\n"
    assert loads(text) == {"a": {"k": "x\ny = 1\n[b]"}}


def test_the_first_line_may_be_empty():
    assert loads("[a]\nk =\n  x\n  y\n") == {"a": {"k": "\nx\ny"}}


def test_an_indented_comment_is_skipped_too():
    assert loads("[a]\nk = x\n    ; no\n    y\n") == {"a": {"k": "x\ny"}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[a]\n  x\n", 2),
        ("[a]\nk = x\n\n  y\n", 4),
        ("[a]\nk = x\n   \n  y\n", 4),
        ("[a]\nk = x\n[b]\n\ty\n", 4),
        ("[a]\n# only a comment\n  y\n", 3),
    ],
)
def test_a_line_that_continues_nothing_is_refused(text, line):
    with pytest.raises(IniError, match=f"line {line}:"):
        loads(text)


def test_several_lines_are_written_indented_by_four():
    data = {"a": {"k": "x\ny\nz", "l": "1"}, "b": {"m": "\nn"}}
    assert dumps(data) == "[a]\nk = x\n    y\n    z\nl = 1\n\n[b]\nm =\n    n\n"


@pytest.mark.parametrize("value", ["x\ny", "\nx\ny = 2", "x\n[b]", "# x\ny", "", "=\n="])
def test_what_is_written_is_read_back(value):
    data = {"a": {"k": value, "last": "1"}}
    assert loads(dumps(data)) == data


@pytest.mark.parametrize(
    "value", ["x\n\ny", "x\n", "x\n# y", "x\n; y", "x\n  y", "x \ny", " x", "x\ny "]
)
def test_what_could_not_be_read_back_is_refused(value):
    with pytest.raises(IniError):
        dumps({"a": {"k": value}})

"""What a finished move, copy and test does, and what it leaves behind."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from docpatch import PatchError, apply_patch


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


def test_move_works_within_a_list():
    patch = [{"op": "move", "from": "/0", "path": "/2"}]
    assert apply_patch(["a", "b", "c"], patch) == ["b", "c", "a"]


def test_move_takes_a_list_item_into_an_object_and_back():
    patch = [{"op": "move", "from": "/list/1", "path": "/one"}]
    assert apply_patch({"list": [1, 2]}, patch) == {"list": [1], "one": 2}
    patch = [{"op": "move", "from": "/one", "path": "/list/-"}]
    assert apply_patch({"list": [1], "one": 2}, patch) == {"list": [1, 2]}


def test_move_to_where_it_is_changes_nothing():
    document = {"a": [1, {"b": 2}]}
    patch = [{"op": "move", "from": "/a/1", "path": "/a/1"}]
    assert apply_patch(document, patch) == document


def test_a_neighbour_with_a_longer_name_is_not_below():
    patch = [{"op": "move", "from": "/a", "path": "/ab"}]
    assert apply_patch({"a": 1}, patch) == {"ab": 1}


def test_a_list_item_cannot_be_moved_into_itself():
    with pytest.raises(PatchError):
        apply_patch([{"n": 1}, {"n": 2}], [{"op": "move", "from": "/0", "path": "/0/n"}])


def test_copy_works_within_a_list():
    patch = [{"op": "copy", "from": "/1", "path": "/0"}]
    assert apply_patch(["a", "b"], patch) == ["b", "a", "b"]


def test_a_copy_is_independent():
    patch = [
        {"op": "copy", "from": "/a", "path": "/b"},
        {"op": "add", "path": "/b/-", "value": 9},
        {"op": "add", "path": "/a/0", "value": 0},
    ]
    assert apply_patch({"a": [1]}, patch) == {"a": [0, 1], "b": [1, 9]}


def test_test_compares_objects_and_lists_as_a_whole():
    document = {"a": {"b": [1, {"c": None}]}, "list": ["x", "y"]}
    patch = [
        {"op": "test", "path": "/a", "value": {"b": [1, {"c": None}]}},
        {"op": "test", "path": "/list/1", "value": "y"},
        {"op": "test", "path": "", "value": document},
    ]
    assert apply_patch(document, patch) == document
    with pytest.raises(PatchError):
        apply_patch(document, [{"op": "test", "path": "/a", "value": {"b": [1]}}])
    with pytest.raises(PatchError):
        apply_patch(document, [{"op": "test", "path": "/list", "value": ["y", "x"]}])


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "move", "path": "/b"},
        {"op": "copy", "path": "/b"},
        {"op": "move", "from": "/a"},
        {"op": "copy", "from": "/nothing", "path": "/b"},
        {"op": "test", "path": "/a"},
        {"op": "test", "value": 1},
        {"op": "test", "path": "/nothing", "value": None},
    ],
)
def test_an_operation_that_lacks_something_is_refused(operation):
    document = {"a": 1}
    with pytest.raises(PatchError):
        apply_patch(document, [operation])
    assert document == {"a": 1}


def test_the_document_handed_in_is_left_as_it_was():
    document = {"a": [1, 2], "b": {}}
    patch = [
        {"op": "move", "from": "/a/0", "path": "/b/x"},
        {"op": "copy", "from": "/a", "path": "/c"},
    ]
    assert apply_patch(document, patch) == {"a": [2], "b": {"x": 1}, "c": [2]}
    assert document == {"a": [1, 2], "b": {}}

"""The delimiter, and all that must stay as it was."""

import ast
from pathlib import Path

import inspect

import exporting
import pytest
from exporting import Column, export_rows, write_file


MODULE = "exporting.py"
PUBLIC = {"Column", "cell_text", "columns_of", "export_rows", "write_file"}
FILES = {"exporting.py"}
UNTOUCHED = '''
@dataclass(frozen=True)
class Column:
    """One column: its heading, and the key under which rows hold its value."""

    heading: str
    key: str


def cell_text(value):
    """Write one value as the importing program reads it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value)


def columns_of(row):
    """Make a column for each key of a row, headed by the key with a capital letter."""
    return [Column(key.replace("_", " ").capitalize(), key) for key in row]
'''

ROOT = Path(__file__).resolve().parents[1]


def source():
    return (ROOT / MODULE).read_text(encoding="utf-8")


def public_names(body):
    """Give what a module or class defines under a public name; imports do not count."""
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_no_public_name_comes_or_goes():
    assert public_names(ast.parse(source()).body) == PUBLIC


def test_what_the_task_does_not_touch_stands_as_it_was():
    for block in UNTOUCHED.strip("\n").split("\n\n\n"):
        assert block in source(), block


def test_no_module_and_no_dependency_comes_along():
    found = {p.relative_to(ROOT) for p in (*ROOT.rglob("*.py"), *ROOT.glob("requirements*"))}
    assert {str(path) for path in found if path.parts[0] != "tests"} == FILES


COLUMNS = [Column("Name", "name"), Column("Price", "price"), Column("Sold", "sold")]
ROWS = [
    {"name": 'rake, "long"', "price": 12.5, "sold": True},
    {"name": "hoe;\tsmall", "price": 3, "sold": False},
    {"name": None, "price": 100000.0},
]
COMMA = 'Name,Price,Sold\r\n"rake, ""long""",12.50,yes\r\nhoe;\tsmall,3,no\r\n,100000.00,\r\n'


def test_the_default_stays_byte_for_byte(tmp_path):
    assert export_rows(ROWS, COLUMNS) == COMMA
    write_file(tmp_path / "a.csv", ROWS, COLUMNS)
    assert (tmp_path / "a.csv").read_bytes() == b"\xef\xbb\xbf" + COMMA.encode()


def test_another_delimiter_changes_nothing_but_the_delimiter(tmp_path):
    expected = (
        'Name;Price;Sold\r\n"rake, ""long""";12.50;yes\r\n"hoe;\tsmall";3;no\r\n;100000.00;\r\n'
    )
    assert export_rows(ROWS, COLUMNS, delimiter=";") == expected
    write_file(tmp_path / "a.csv", ROWS, COLUMNS, delimiter=";")
    assert (tmp_path / "a.csv").read_bytes() == b"\xef\xbb\xbf" + expected.encode()


@pytest.mark.parametrize("delimiter", [":", " ", ",;", "\n", ""])
def test_a_refused_delimiter_leaves_the_file_alone(delimiter, tmp_path):
    path = tmp_path / "old.csv"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(ValueError):
        write_file(path, ROWS, COLUMNS, delimiter=delimiter)
    assert path.read_text(encoding="utf-8") == "old"


def test_cells_and_columns_read_as_before():
    assert [exporting.cell_text(v) for v in (None, True, False, 1.005, 2.0, 7, "x")] == [
        "",
        "yes",
        "no",
        "1.00",
        "2.00",
        "7",
        "x",
    ]
    assert exporting.columns_of({"unit_price": 1}) == [Column("Unit price", "unit_price")]


@pytest.mark.parametrize(
    ("function", "names"),
    [(export_rows, ["rows", "columns"]), (write_file, ["path", "rows", "columns"])],
)
def test_the_functions_take_what_the_task_names(function, names):
    *first, last = inspect.signature(function).parameters.values()
    assert [parameter.name for parameter in first] == names
    assert (last.name, last.default, last.kind) == ("delimiter", ",", last.KEYWORD_ONLY)

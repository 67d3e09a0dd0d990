"""What passing means: pure decisions on syntax trees and reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilth.base.errors import UserError
from tilth.gate.findings import NodeResult
from tilth.gate.passing import PytestRun, complaints, proves_nothing, run_faults, unforgiven
from tilth.gate.pristine import SeedReading, read_here
from tilth.gate.ruff import Violation, new_since, violations

PATH = "tests/test_t001_a.py"
SOURCE = """\
import unittest
import pytest

def test_plain(): ...
async def test_async(): ...
def helper(): ...

@pytest.fixture
def test_data(): ...

@pytest.mark.skipif(True, reason="")
def test_marked(): ...

def test_inside():
    pytest.skip("")

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.xfail)])
def test_param(x): ...

class TestClass:
    def test_method(self): ...

class TestMarked:
    pytestmark = [pytest.mark.skip]
    def test_method(self): ...

class TestMade:
    def __init__(self): ...
    def test_method(self): ...

class TestOff:
    __test__ = False
    def test_method(self): ...

class Cases(unittest.TestCase):
    @unittest.expectedFailure
    def test_case(self): ...

class Mixin:
    def test_mixed(self): ...
"""


def test_the_tests_of_a_file_are_read_from_its_syntax() -> None:
    held = read_here(SOURCE.encode())
    assert held.tests == (
        "test_plain",
        "test_async",
        "test_marked",
        "test_inside",
        "test_param",
        "TestClass::test_method",
        "TestMarked::test_method",
        "Cases::test_case",
    )
    marked = {"test_marked", "test_param", "TestMarked::test_method", "Cases::test_case"}
    assert set(held.marked) == marked
    assert {test for test, lines in held.skipping.items() if lines} == {"test_inside"}


OWN = """\
import pytest

def skip_it(): pytest.skip("")

def test_a():
    pytest.skip("")

def test_b():
    skip_it()

@pytest.mark.skip
def test_c(): ...
"""


@pytest.mark.parametrize(
    ("test", "line", "excused"), [("a", 6, 1), ("b", 3, 0), ("c", 3, 1), ("a", 3, 0)]
)
def test_a_skip_is_excused_by_the_mark_or_the_line_of_that_very_test(
    test: str, line: int, excused: int
) -> None:
    place = f"{PATH}:{line}"
    result = NodeResult(node=f"{PATH}::test_{test}", ending="skipped", place=place)
    assert read_here(OWN.encode()).excuses(result) is bool(excused)
    elsewhere = result.model_copy(update={"place": f"calc.py:{line}"})
    assert read_here(OWN.encode()).excuses(elsewhere) is (test == "c")


def test_a_mark_for_the_whole_file_is_that_of_each_test() -> None:
    top = "pytestmark = pytest.mark.skipif(True, reason='')\ndef test_a(): ...\n"
    assert read_here(top.encode()).marked == ("test_a",)


def test_a_file_that_does_not_parse_holds_no_test() -> None:
    assert read_here(b"def test_a(:\n").tests == ()


FILE = read_here(
    b"import pytest\ndef test_a(): ...\ndef test_b(): ...\n@pytest.mark.skip\ndef test_c(): ...\n",
)


def ran(held: SeedReading = FILE, /, **endings: str) -> PytestRun:
    """Make a run of such a file in which the named tests ended so."""
    results = [NodeResult(node=f"{PATH}::{n}", ending=e) for n, e in endings.items()]
    red = any(result.is_red for result in results)
    nodes = tuple(result.node for result in results)
    return PytestRun(status=int(red), collected=nodes, results=tuple(results), seeds={PATH: held})


def test_a_run_in_which_all_is_well_has_no_complaint() -> None:
    run = ran(test_a="passed", test_b="passed", test_c="skipped")
    assert complaints(run, [PATH]) == {}
    assert run_faults(run) == []
    assert not proves_nothing(run, [PATH])


@pytest.mark.parametrize("ending", ["failed", "error", "skipped", "xfailed"])
def test_a_test_that_did_anything_but_pass_is_complained_of(ending: str) -> None:
    run = ran(test_a="passed", test_b=ending, test_c="passed")
    assert complaints(run, [PATH]) == {f"{PATH}::test_b": f"{PATH}::test_b: {ending}"}


def test_a_test_that_left_no_result_is_complained_of() -> None:
    run = ran(test_a="passed", test_c="passed")
    assert complaints(run, [PATH])[f"{PATH}::test_b"].endswith("did not run")
    away = run.model_copy(update={"deselected": (f"{PATH}::test_b",)})
    assert complaints(away, [PATH])[f"{PATH}::test_b"].endswith("was deselected")
    never = run.model_copy(update={"collected": (*run.collected, f"{PATH}::test_a[2]")})
    assert complaints(never, [PATH])[f"{PATH}::test_a[2]"].endswith("never ran")


def test_a_test_that_was_skipped_on_the_base_too_is_excused() -> None:
    run = ran(test_a="passed", test_b="skipped", test_c="passed")
    assert complaints(run, [PATH], {f"{PATH}::test_b"}) == {}


def test_parameters_count_for_their_function() -> None:
    results = [NodeResult(node=f"{PATH}::test_{n}", ending="passed") for n in ("a[1]", "b[x::y]")]
    run = PytestRun(status=0, results=tuple(results), seeds={PATH: FILE})
    assert list(complaints(run, [PATH])) == [f"{PATH}::test_c"]


@pytest.mark.parametrize(
    "red", [f"{PATH}::test_b[1]", f"{PATH}::test_b", PATH], ids=["node", "function", "file"]
)
def test_what_was_red_before_is_forgiven(red: str) -> None:
    found = {f"{PATH}::test_b[1]": "failed", "tests/test_t002_x.py::test_b[1]": "failed"}
    assert list(unforgiven(found, {red})) == ["tests/test_t002_x.py::test_b[1]"]


def test_a_run_where_everything_was_skipped_proves_nothing() -> None:
    assert proves_nothing(ran(test_c="skipped"), [PATH])


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (1, "a failure that no test explains"),
        (2, "interrupted"),
        (3, "internal error"),
        (4, "could not start"),
        (5, "no test"),
        (77, "exit status 77"),
    ],
)
def test_an_exit_status_that_no_test_explains_is_a_fault(status: int, said: str) -> None:
    [fault] = run_faults(PytestRun(status=status))
    assert said in fault


def test_results_are_counted_by_kind() -> None:
    run = ran(a="passed", b="passed", c="failed", d="error", e="skipped", f="xfailed")
    assert run.model_copy(update={"deselected": ("x", "y", "z")}).counts() == {
        "collected": 6,
        "deselected": 3,
        "passed": 2,
        "failed": 1,
        "errors": 1,
        "skipped": 1,
        "xfailed": 1,
    }


def test_a_whole_file_may_be_skipped_only_where_it_was_so_on_the_base() -> None:
    run = PytestRun(status=0, results=(NodeResult(node=PATH, ending="skipped"),))
    run = run.model_copy(update={"seeds": {PATH: FILE}})
    assert complaints(run, [PATH], {PATH}) == {}
    assert list(complaints(run, [PATH])) == [PATH]


def found(path: str, code: str, message: str, row: int = 1) -> Violation:
    location = {"row": row, "column": 1}
    return Violation(filename=path, code=code, message=message, location=location)


def test_a_violation_that_moved_within_its_file_is_not_new() -> None:
    base = {found("a.py", "E501", "Line too long (105 > 100)").key: 1}
    moved = found("a.py", "E501", "Line too long (107 > 100)", row=9)
    assert new_since(base, [moved], {"a.py"}) == ()
    assert new_since(base, [moved, moved], {"a.py"}) == (moved,)


def test_a_violation_moves_with_a_renamed_file_only() -> None:
    base = {found("a.py", "F401", "`os` imported but unused").key: 1}
    elsewhere = found("b.py", "F401", "`os` imported but unused")
    assert new_since(base, [elsewhere], ()) == ()
    assert new_since(base, [elsewhere], {"a.py"}) == (elsewhere,)


def test_a_file_without_any_test_is_complained_of_unless_something_of_it_ran() -> None:
    empty = read_here(b"x = 1\n")
    assert complaints(ran(empty), [PATH]) == {PATH: f"{PATH}: holds no test"}
    assert complaints(ran(empty, test_made="passed"), [PATH]) == {}
    assert f"{PATH}::test_a" in complaints(ran(), [PATH])


def test_ruffs_report_is_read_with_syntax_errors_and_without_places() -> None:
    text = (
        b'[{"code": null, "message": "bad", "filename": "/x/a.py", "location": null},'
        b' {"code": "F821", "message": "m", "filename": "/x/b.py",'
        b' "location": {"row": 3, "column": 4}}]'
    )
    first, second = violations(text, Path("/x"))
    assert first.line() == "a.py:1:1: invalid-syntax bad"
    assert second.line() == "b.py:3:4: F821 m"


@pytest.mark.parametrize("text", [b"", b"{}", b"null", b"[1]", b"not json"])
def test_a_report_of_ruff_that_cannot_be_read_is_no_clean_bill(text: bytes) -> None:
    with pytest.raises(UserError, match="report cannot be read"):
        violations(text, Path("/x"))

"""What is read in a seed test without running it: its tests, its excuses, its words."""

from __future__ import annotations

import pytest

from tilth.gate.findings import NodeResult
from tilth.gate.passing import PytestRun, complaints
from tilth.gate.pristine import SeedReading, file_of, function_of, read_here


@pytest.mark.parametrize(
    "line",
    [
        "pytest.skip('')",
        "pytest.xfail('')",
        "pytest.importorskip('x')",
        "self.skipTest('')",
        "raise SkipTest",
        "unittest.skipIf(True, '')",
        "unittest.skipUnless(False, '')",
        "unittest.expectedFailure(f)",
    ],
)
def test_every_way_to_skip_excuses_its_own_test_alone(line: str) -> None:
    found = read_here(f"def test_a():\n    {line}\n\n\ndef test_b(): ...\n".encode())
    assert found.tests == ("test_a", "test_b")
    assert found.skipping == {"test_a": (2,), "test_b": ()}


def test_a_mark_of_a_class_excuses_its_tests_and_another_assignment_does_not() -> None:
    body = "class TestA:\n    {}\n    def test_x(self): ...\n"
    assert read_here(body.format("pytestmark = pytest.mark.skip").encode()).marked
    assert read_here(body.format("pytestmark: list = [pytest.mark.xfail]").encode()).marked
    assert read_here(body.format("skip = 1").encode()).marked == ()
    assert read_here(body.format("other = pytest.mark.skip").encode()).marked == ()


def test_tests_are_read_with_their_lines_and_the_comments_by_theirs() -> None:
    text = "# AC-1\n@mark\ndef test_a():\n    x = '# no'  # yes\n"
    found = read_here(text.encode())
    assert found.spans == {"test_a": (2, 4)}
    assert found.comments == {1: "# AC-1", 4: "# yes"}


def test_lines_that_skip_are_those_that_ask_pytest_or_unittest_for_it() -> None:
    text = "pytest.mark.skip\nself.skip()\nunittest.skip('')\ncase.skipTest('')\nrow.skip\n"
    assert read_here(text.encode()).skip_lines == (1, 3)


@pytest.mark.parametrize("text", [b"def test_a(:\n", b"x = '\0'\n", b"\xff\n"])
def test_a_file_that_cannot_be_read_holds_nothing_and_excuses_nothing(text: bytes) -> None:
    found = read_here(text)
    assert found.error
    assert (found.tests, found.marked, found.skipping) == ((), (), {})


def test_a_file_nobody_read_excuses_nothing() -> None:
    result = NodeResult(node="tests/a.py::test_a", ending="skipped", place="tests/a.py:1")
    assert not SeedReading().excuses(result)
    run = PytestRun(status=0, results=(result,))
    assert complaints(run, ["tests/a.py"]) == {result.node: f"{result.node}: skipped"}


def test_a_node_belongs_to_its_file_and_function() -> None:
    assert file_of("tests/a.py") == "tests/a.py"
    assert file_of("tests/a.py::T::test_x[1]") == "tests/a.py"
    assert file_of("tests/a.pyc::test_x") == "tests/a.pyc"
    assert function_of("tests/a.py::T::test_x[a::b]") == "T::test_x"

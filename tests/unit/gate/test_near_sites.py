"""Where a small change must be noticed: what a test expects and uses for nothing else."""

from __future__ import annotations

import ast
import textwrap
from random import Random
from typing import Any

import pytest

from tilth.gate.in_target.expectations import read
from tilth.gate.in_target.falsehoods import near

PATH = "tests/test_a.py"


def places(text: str) -> tuple[list[Any], list[list[Any]]]:
    """Give what may be changed a little of `test_a`, and of each of its cases."""
    reading = read({PATH: textwrap.dedent(text).encode()})

    def part(place: tuple[int, list[int]]) -> Any:
        value = ast.literal_eval(reading["literals"][place[0]])
        for turn in place[1]:
            value = [*(value.values() if isinstance(value, dict) else value)][turn]
        return value

    has = reading["functions"][f"{PATH}::test_a"]
    return [*map(part, has["near"])], [[*map(part, row)] for row in has["rows"]]


def body(text: str) -> str:
    return "def test_a():\n" + textwrap.indent(textwrap.dedent(text), "    ")


FOUND: dict[str, list[Any]] = {
    "assert f(3) == 5": [5],
    "assert 5 == f(3)": [5],
    "assert f(3) == [1, 'b']": [[1, "b"]],
    "assert f(x) == date(2020, 2, 29)": [2020, 2, 29],
    "want = 'IV'\nassert f(4) == want": ["IV"],
    "for n, want in [(1, 'I'), (4, 'IV')]:\n    assert f(n) == want": ["I", "IV"],
    "for n, want in {1: 'I', 4: 'IV'}.items():\n    assert f(n) == want": ["I", "IV"],
    "for n, want in TABLE:\n    assert f(n) == want": ["X"],
    "if f(3) != 5:\n    raise AssertionError": [5],
    "assert all(f(n) == w for n, w in [(1, 2)])": [2],
    "self.assertEqual(f(3), 5)": [5],
    "check(f(3), 'IV')": ["IV"],
    "with pytest.raises(ValueError, match='no unit'):\n    f()": ["no unit"],
    "assert 'name' in f()": ["name"],
    "assert abs(f() - 1.5) < 1e-6": [1.5],
    "assert f() == pytest.approx(0.3)": [0.3],
    # What is used for something else as well would move both sides.
    "x = 5\nassert f(x) == x": [],
    "assert f(3) == pytest.approx(100, abs=20)": [],
    "assert f(3) < 5": [],
    "assert 5 in f()": [],
    "assert f(5)": [],
    "want = 1\nwant = 2\nassert f() == want": [],
    "assert f() == None": [None],
}


@pytest.mark.parametrize("text", FOUND, ids=[*FOUND])
def test_what_a_test_expects_and_uses_for_nothing_else_may_be_changed_a_little(text: str) -> None:
    helper = "TABLE = [(10, 'X')]\n\n\ndef check(found, want):\n    assert found == want\n\n\n"
    assert places(helper + body(text))[0] == FOUND[text]


def test_each_case_of_a_parametrized_test_has_its_own_row() -> None:
    rows = """
        @pytest.mark.parametrize("n, want", [(1, "I"), pytest.param(4, "IV", id="four")])
        def test_a(n, want):
            assert f(n) == want
    """
    assert places(rows) == ([], [["I"], ["IV"]])
    single = """
        @pytest.mark.parametrize("want", [(1, 2), (3, 4)])
        def test_a(want):
            assert f() == want
    """
    assert places(single) == ([], [[(1, 2)], [(3, 4)]])


def test_a_table_that_two_tests_read_is_nobodys_own() -> None:
    two = "TABLE = [(1, 2)]\n" + body("for n, want in TABLE:\n    assert f(n) == want")
    assert places(two)[0] == [2]
    assert places(f"{two}\ndef test_b():\n    assert len(TABLE) == 1\n")[0] == []


SMALL: list[Any] = [5, -1, 2.5, "IV", "a", "9", "zZ", b"ab", [1, 2], (1,), {"a": 1}, {3, 4}, True]


@pytest.mark.parametrize("value", SMALL, ids=map(repr, SMALL))
def test_a_small_change_gives_another_value_of_the_same_kind(value: Any) -> None:
    for number in range(40):
        changed = near(value, Random(number))
        assert changed != value
        assert type(changed) is type(value)
        assert changed == near(value, Random(number))


def test_a_small_change_leaves_most_as_it_is() -> None:
    whole = list(range(100, 120))
    for number in range(20):
        differing = [
            a for a, b in zip(whole, near([*whole], Random(number)), strict=True) if a != b
        ]
        assert len(differing) <= 2


@pytest.mark.parametrize("value", [None, [], {}, (), ""])
def test_what_has_no_small_change_stays_or_grows(value: Any) -> None:
    assert near(value, Random(1)) in (value, "_")

"""The challenge, decided: which tests are false in which run, and what a pattern of red shows."""

from __future__ import annotations

import ast
import enum
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from tilth.gate.challenge import (
    Expectations,
    Pattern,
    Ran,
    Seen,
    Sites,
    Unit,
    alone,
    patterns,
    ran,
    seen,
    signs,
    tables,
    units_of,
    wrong,
)
from tilth.gate.findings import NodeResult
from tilth.gate.in_target.expected import Expected
from tilth.gate.in_target.falsehoods import Unlike, other, random_of
from tilth.gate.passing import PytestRun

FILE = "tests/test_a.py"


def expectations(*tests: Sites) -> Expectations:
    count = 1 + max((n for test in tests for n in test.sites), default=-1)
    functions = {f"{FILE}::test_{n}": test for n, test in enumerate(tests)}
    return Expectations(literals=tuple(map(str, range(count))), functions=functions)


def plain(*sites: int) -> Sites:
    return Sites(sites=sites, plain=sites)


only = plain


def reported(count: int, red: Callable[[int], bool] = lambda _: False) -> PytestRun:
    nodes = tuple(f"{FILE}::test_{n}" for n in range(count))
    results = tuple(
        NodeResult(node=node, ending="failed" if red(n) else "passed")
        for n, node in enumerate(nodes)
    )
    return PytestRun(status=0, collected=nodes, results=results)


def units(known: Expectations, count: int) -> tuple[Unit, ...]:
    return units_of(reported(count), known, "rule")


@pytest.mark.parametrize(("tests", "runs"), [(1, 5), (2, 3), (3, 3), (4, 2), (40, 2)])
def test_there_are_as_many_runs_as_leave_a_guess_one_chance_in_sixteen(
    tests: int, runs: int
) -> None:
    known = expectations(*(plain(n) for n in range(tests)))
    made = patterns(units(known, tests), "nonce")
    assert len(made) == runs
    assert (2**runs - 2) ** tests >= 16


def test_every_test_is_false_at_least_once_and_true_at_least_once() -> None:
    known = expectations(*(plain(n) for n in range(6)))
    for nonce in map(str, range(50)):
        made = patterns(units(known, 6), nonce)
        for unit in units(known, 6):
            times = sum(unit.key in pattern for pattern in made)
            assert 0 < times < len(made)


def test_the_nonce_decides_when_and_the_rule_what() -> None:
    known = expectations(*(plain(n) for n in range(6)))
    every = units(known, 6)
    assert len({str(patterns(every, str(n))) for n in range(20)}) > 1
    made: list[Pattern] = [{unit.key: only(n)} for n, unit in enumerate(every[:2])]
    one, other = (tables(pattern, every, known, "rule") for pattern in made)
    assert one != other
    assert one == tables(made[0], every, known, "rule")
    assert one != tables(made[0], every, known, "another")


def test_a_table_says_of_no_plain_test_whether_it_is_false() -> None:
    known = expectations(plain(0), plain(1))
    every = units(known, 2)
    for pattern in patterns(every, "nonce"):
        handed: dict[str, Any] = tables(pattern, every, known, "rule")
        assert handed["literals"] == [None, None]
        for number, unit in enumerate(every):
            said = handed["tests"][unit.key]
            assert (list(said["own"]), said["rest"]) == ([number], False)
            assert (said["own"][number] == str(number)) != (unit.key in pattern)


def test_each_plain_expectation_is_false_by_itself_once() -> None:
    known = expectations(plain(0, 1, 2), plain(3))
    made = patterns(units(known, 2), "nonce")
    chosen = [p[f"{FILE}::test_0#0"] for p in made if f"{FILE}::test_0#0" in p]
    assert {each.sites for each in chosen} == {(0,), (1,), (2,)}


def test_what_is_computed_is_false_apart_from_what_is_plain() -> None:
    known = expectations(Sites(sites=(0, 1), plain=(0,), more=True))
    [unit] = units(known, 1)
    assert unit.variants == (only(0), Sites(sites=(1,), more=True))


def test_an_inherited_test_has_the_literals_of_its_name_and_none_of_them_is_plain() -> None:
    known = Expectations(functions={f"{FILE}::TestA::test_x": plain(0)})
    assert known.of(f"{FILE}::TestB::test_x[1]") == Sites(sites=(0,), more=True)
    assert known.of(f"{FILE}::TestB::test_y") == Sites(more=True)


def judged(known: Expectations, count: int, red: Callable[[Pattern, int], bool]) -> list[Seen]:
    every = units(known, count)
    made = patterns(every, "nonce")
    runs = [ran(p, every, reported(count, partial(red, p))) for p in made]
    return [seen(unit, runs) for unit in every]


def is_false(pattern: Pattern, number: int) -> bool:
    return f"{FILE}::test_{number}#0" in pattern


def test_red_exactly_when_falsified_is_noticed() -> None:
    found = judged(expectations(plain(0), plain(1)), 2, is_false)
    assert [(one.noticed, one.steady, one.deviates) for one in found] == [(True, True, False)] * 2


def test_green_though_falsified_is_blind_where_it_is_plain_and_unnoticed_elsewhere() -> None:
    known = expectations(plain(0), Sites(sites=(1,), more=True))
    first, second = judged(known, 2, lambda *_: False)
    assert (first.blind, first.noticed, first.deviates) == (0, False, True)
    assert (second.blind, second.noticed, second.deviates) == (None, False, False)
    said = wrong(units(known, 2)[0], first, known, "rule")
    assert said.startswith(f"{FILE}::test_0 stays green although 0 was made ")


def test_red_though_true_is_a_deviation_and_a_run_without_a_report_settles_nothing() -> None:
    known = expectations(plain(0), plain(1))
    found = judged(known, 2, lambda *_: True)
    assert all(one.red and one.deviates and not one.steady for one in found)
    every = units(known, 2)
    assert "is red when it runs once more" in wrong(every[0], found[0], known, "rule")
    gone = [ran(pattern, every, None) for pattern in patterns(every, "nonce")]
    nothing = Seen(unsettled=True)
    assert [seen(unit, gone) for unit in every] == [nothing, nothing]
    assert nothing.deviates


def test_alone_a_run_without_a_report_is_as_good_as_a_red_test() -> None:
    every = units(expectations(plain(0)), 1)
    made = alone(every, "nonce")
    ends = [ran(p, every, None if p else reported(1)) for p in made]
    assert seen(every[0], ends, mixed=False).steady
    always = [ran(p, every, None) for p in made]
    assert seen(every[0], always, mixed=False).deviates


def test_alone_a_test_may_be_red_behind_another_that_is_false() -> None:
    known = expectations(plain(0), plain(1))
    every = units(known, 2)
    made = alone(every, "nonce")
    assert sorted(len(pattern) for pattern in made) == [0, 0, *[1] * 6]
    runs = [ran(p, every, reported(2, lambda n, p=p: bool(p))) for p in made]  # type: ignore[misc]
    assert not any(seen(unit, runs, mixed=False).deviates for unit in every)


def test_a_run_is_written_down_with_a_sign_for_each_test_that_it_had() -> None:
    every = units(expectations(plain(0), plain(1), plain(2)), 3)
    false = {every[1].key: only(1)}
    made = ran(false, every[:2], reported(2, lambda n: n == 1))
    assert signs(every, made).model_dump() == {"false": "01-", "red": "01-"}
    gone = Ran(false=false, there=frozenset(unit.key for unit in every[:2]))
    assert ran(false, every[:2], None) == gone
    assert signs(every, gone).model_dump() == {"false": "01-", "red": "11-"}


VALUES = ["5", "-2", "0", "0.5", "1e300", "True", "None", "'hello'", "''", "b'x'", "[1, 'a']"]
VALUES += ["[]", "{}", "{'a': 1}", "(1, 2)", "{1, 2}", "'\\n'", "2j", "'ß'", "('a', ['b'])"]


@pytest.mark.parametrize("true", VALUES)
def test_a_false_value_differs_and_is_the_same_for_the_same_words(true: str) -> None:
    value = ast.literal_eval(true)
    for word in map(str, range(30)):
        false = other(value, random_of(word))
        assert false != value
        assert false == other(value, random_of(word))
        assert ast.literal_eval(repr(false)) == false


def test_a_false_value_does_not_tell_that_it_is_one() -> None:
    seen = Counter(other(5, random_of(str(n))) for n in range(400))
    assert len(seen) > 40
    assert {type(each) for each in seen} == {int}
    assert not seen.keys() & {5}
    assert all(other("ab1", random_of(str(n))).isprintable() for n in range(20))


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize("value", [Colour.RED, Decimal("1.5"), float("inf"), date(2020, 1, 1), len])
def test_what_is_computed_has_a_false_value_too(value: object) -> None:
    assert other(value, random_of("w")) != value
    assert Expected("rule", [], {"t": {"rest": True}}).of("truth", value) is value


def test_what_is_unlike_stands_in_no_order_and_is_no_member() -> None:
    unlike = Unlike()
    assert not any((unlike == 1, unlike < 1, unlike > 1, unlike in [1], 1 <= unlike))  # noqa: SIM300

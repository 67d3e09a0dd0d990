"""The challenge, decided: which tests are false in which run, and what a pattern of red shows."""

from __future__ import annotations

import ast
import enum
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from tilth.gate.challenge import (
    Expectations,
    Falsified,
    FunctionSites,
    Pattern,
    Unit,
    alone,
    outcome_of,
    patterns,
    tables,
    units_of,
)
from tilth.gate.findings import NodeResult
from tilth.gate.in_target.expected import Expected
from tilth.gate.in_target.falsehoods import Unlike, other, random_of
from tilth.gate.passing import PytestRun

FILE = "tests/test_a.py"


def expectations(*tests: FunctionSites) -> Expectations:
    count = 1 + max((n for test in tests for n in test.sites), default=-1)
    functions = {f"{FILE}::test_{n}": test for n, test in enumerate(tests)}
    return Expectations(literals=tuple(map(str, range(count))), functions=functions)


def plain(*sites: int) -> FunctionSites:
    return FunctionSites(sites=sites, plain=sites, more=False)


def only(number: int) -> Falsified:
    return Falsified(sites=(number,))


def ran(count: int, red: Callable[[int], bool] = lambda _: False) -> PytestRun:
    nodes = tuple(f"{FILE}::test_{n}" for n in range(count))
    results = tuple(
        NodeResult(node=node, ending="failed" if red(n) else "passed")
        for n, node in enumerate(nodes)
    )
    return PytestRun(status=0, collected=nodes, results=results)


def units(known: Expectations, count: int) -> tuple[Unit, ...]:
    return units_of(ran(count), known, "rule")


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
            times = sum(unit.key in pattern.false for pattern in made)
            assert 0 < times < len(made)


def test_the_nonce_decides_when_and_the_rule_what() -> None:
    known = expectations(*(plain(n) for n in range(6)))
    every = units(known, 6)
    assert len({str(patterns(every, str(n))) for n in range(20)}) > 1
    made = [Pattern(false={unit.key: only(n)}) for n, unit in enumerate(every[:2])]
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
            assert (list(said["own"]), said["rest"]) == ([str(number)], False)
            assert (said["own"][str(number)] == str(number)) != (unit.key in pattern.false)


def test_each_plain_expectation_is_false_by_itself_once() -> None:
    known = expectations(plain(0, 1, 2), plain(3))
    made = patterns(units(known, 2), "nonce")
    chosen = [p.false[f"{FILE}::test_0#0"] for p in made if f"{FILE}::test_0#0" in p.false]
    assert {each.sites for each in chosen} == {(0,), (1,), (2,)}


def test_what_is_computed_is_false_apart_from_what_is_plain() -> None:
    known = expectations(FunctionSites(sites=(0, 1), plain=(0,)))
    [unit] = units(known, 1)
    assert unit.variants == (only(0), Falsified(sites=(1,), more=True))


def test_an_inherited_test_has_the_literals_of_its_name_and_none_of_them_is_plain() -> None:
    known = Expectations(functions={f"{FILE}::TestA::test_x": plain(0)})
    assert known.of(f"{FILE}::TestB::test_x[1]") == FunctionSites(sites=(0,))
    assert known.of(f"{FILE}::TestB::test_y") == FunctionSites()


def judged(known: Expectations, count: int, red: Callable[[Pattern, int], bool]) -> object:
    every = units(known, count)
    made = patterns(every, "nonce")
    runs = [(p, ran(count, lambda n, p=p: red(p, n))) for p in made]  # type: ignore[misc]
    return outcome_of(every, runs)


def is_false(pattern: Pattern, number: int) -> bool:
    return f"{FILE}::test_{number}#0" in pattern.false


def test_red_exactly_when_falsified_is_noticed() -> None:
    found = judged(expectations(plain(0), plain(1)), 2, is_false)
    assert found.noticed == found.steady == {f"{FILE}::test_0#0", f"{FILE}::test_1#0"}
    assert not any(map(found.deviates, units(expectations(plain(0), plain(1)), 2)))


def test_green_though_falsified_is_blind_where_it_is_plain_and_unnoticed_elsewhere() -> None:
    known = expectations(plain(0), FunctionSites(sites=(1,)))
    found = judged(known, 2, lambda *_: False)
    assert found.blind == {f"{FILE}::test_0#0": 0}
    assert found.noticed == frozenset()


def test_red_though_true_is_a_deviation_and_a_run_without_a_report_settles_nothing() -> None:
    known = expectations(plain(0), plain(1))
    found = judged(known, 2, lambda *_: True)
    assert found.red == {f"{FILE}::test_0#0", f"{FILE}::test_1#0"}
    every = units(known, 2)
    gone = outcome_of(every, [(pattern, None) for pattern in patterns(every, "nonce")])
    assert (gone.noticed, gone.red, gone.blind) == (frozenset(), frozenset(), {})
    assert all(map(gone.deviates, every))


def test_alone_a_run_without_a_report_is_as_good_as_a_red_test() -> None:
    every = units(expectations(plain(0)), 1)
    made = alone(every, "nonce")
    ends = [(p, None if p.false else ran(1)) for p in made]
    assert outcome_of(every, ends, others_matter=False).steady == {every[0].key}
    always = [(p, None) for p in made]
    assert outcome_of(every, always, others_matter=False).deviates(every[0])


def test_alone_a_test_may_be_red_behind_another_that_is_false() -> None:
    known = expectations(plain(0), plain(1))
    every = units(known, 2)
    made = alone(every, "nonce")
    assert sorted(len(pattern.false) for pattern in made) == [0, 0, *[1] * 6]
    runs = [(p, ran(2, lambda n, p=p: bool(p.false))) for p in made]  # type: ignore[misc]
    found = outcome_of(every, runs, others_matter=False)
    assert not any(map(found.deviates, every))


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
    assert set(seen) == set(range(-4, 15)) - {5}
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

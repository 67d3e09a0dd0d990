"""The challenge, decided: which tests are false in which run, and what a pattern of red shows."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable

import pytest

from tilth.gate.challenge import (
    Expectations,
    FunctionSites,
    Pattern,
    Site,
    Unit,
    alone,
    outcome_of,
    patterns,
    tables,
    units_of,
)
from tilth.gate.falsehoods import false_text, random_of, true_text
from tilth.gate.findings import NodeResult
from tilth.gate.passing import PytestRun

FILE = "tests/test_a.py"


def expectations(*tests: FunctionSites, late: bool = True) -> Expectations:
    count = 1 + max((n for test in tests for n in test.sites), default=-1)
    sites = tuple(
        Site(path=FILE, line=n + 1, kind="value", true=str(n), in_call=late) for n in range(count)
    )
    functions = {f"{FILE}::test_{n}": test for n, test in enumerate(tests)}
    return Expectations(sites=sites, functions=functions)


def plain(*sites: int) -> FunctionSites:
    return FunctionSites(sites=sites, plain=sites)


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
    made = patterns(units(known, tests), known, "nonce")
    assert len(made) == runs
    assert (2**runs - 2) ** tests >= 16


def test_every_test_is_false_at_least_once_and_true_at_least_once() -> None:
    known = expectations(*(plain(n) for n in range(6)))
    for nonce in map(str, range(50)):
        made = patterns(units(known, 6), known, nonce)
        for unit in units(known, 6):
            times = sum(unit.key in pattern.false for pattern in made)
            assert 0 < times < len(made)


def test_the_nonce_decides_when_and_the_rule_what() -> None:
    known = expectations(*(plain(n) for n in range(6)))
    every = units(known, 6)
    assert len({patterns(every, known, str(n)) for n in range(20)}) > 1
    one, other = (tables(Pattern(false={u.key: u.sites}), every, known, "rule") for u in every[:2])
    assert one != other
    assert one == tables(Pattern(false={every[0].key: (0,)}), every, known, "rule")
    assert one != tables(Pattern(false={every[0].key: (0,)}), every, known, "another")


def test_a_table_says_of_no_test_whether_it_is_false() -> None:
    known = expectations(plain(0), plain(1))
    every = units(known, 2)
    for pattern in patterns(every, known, "nonce"):
        handed = tables(pattern, every, known, "rule")
        assert {key: set(sites) for key, sites in handed["tests"].items()} == {
            every[0].key: {"0"},
            every[1].key: {"1"},
        }


def test_each_plain_expectation_is_false_by_itself_once() -> None:
    known = expectations(plain(0, 1, 2), plain(3))
    made = patterns(units(known, 2), known, "nonce")
    chosen = {p.false[f"{FILE}::test_0#0"] for p in made if f"{FILE}::test_0#0" in p.false}
    assert chosen == {(0,), (1,), (2,)}


def test_tests_that_share_what_is_imported_are_false_together() -> None:
    shared = FunctionSites(sites=(0,))
    known = expectations(shared, shared, late=False)
    for pattern in patterns(units(known, 2), known, "nonce"):
        assert len(pattern.false) in (0, 2)
        assert (0 in pattern.shared) == bool(pattern.false)


def test_cases_have_their_own_rows_unless_something_else_multiplies_them() -> None:
    own = FunctionSites(rows=2, cases={0: (0,), 1: (1,)})
    known = expectations(plain(0), plain(1)).model_copy(update={"functions": {f"{FILE}::t": own}})
    for count, sites in ((2, [(0,), (1,)]), (4, [(0, 1)] * 4)):
        nodes = tuple(f"{FILE}::t[{n}]" for n in range(count))
        results = tuple(NodeResult(node=node, ending="passed") for node in nodes)
        run = PytestRun(status=0, collected=nodes, results=results)
        assert [unit.sites for unit in units_of(run, known, "rule")] == sites


def judged(known: Expectations, count: int, red: Callable[[Pattern, int], bool]) -> object:
    every = units(known, count)
    made = patterns(every, known, "nonce")
    runs = [(p, ran(count, lambda n, p=p: red(p, n))) for p in made]  # type: ignore[misc]
    return outcome_of(every, runs)


def is_false(pattern: Pattern, number: int) -> bool:
    return f"{FILE}::test_{number}#0" in pattern.false


def test_red_exactly_when_falsified_is_noticed() -> None:
    found = judged(expectations(plain(0), plain(1)), 2, is_false)
    assert found.noticed == found.steady == {f"{FILE}::test_0#0", f"{FILE}::test_1#0"}
    assert not found.deviating


def test_green_though_falsified_is_blind_where_it_is_plain_and_unnoticed_elsewhere() -> None:
    known = expectations(plain(0), FunctionSites(sites=(1,)))
    found = judged(known, 2, lambda *_: False)
    assert found.blind == {f"{FILE}::test_0#0": (0,)}
    assert found.noticed == frozenset()


def test_red_though_true_is_a_deviation_and_a_run_without_a_report_is_red() -> None:
    known = expectations(plain(0), plain(1))
    found = judged(known, 2, lambda *_: True)
    assert found.red == {f"{FILE}::test_0#0", f"{FILE}::test_1#0"}
    every = units(known, 2)
    assert outcome_of(every, [(Pattern(false={}), None)]).red == found.red


def test_alone_a_test_may_be_red_behind_another_that_is_false() -> None:
    known = expectations(plain(0), plain(1))
    every = units(known, 2)
    made = alone(every, known, "nonce")
    assert sorted(len(pattern.false) for pattern in made) == [0, 1, 1]
    runs = [(p, ran(2, lambda n, p=p: bool(p.false))) for p in made]  # type: ignore[misc]
    assert not outcome_of(every, runs, others_matter=False).deviating


VALUES = ["5", "-2", "0", "0.5", "True", "None", "'hello'", "''", "b'x'", "[1, 'a']", "[]", "{}"]
VALUES += ["{'a': 1}", "(1, 2)", "{1, 2}", "'\\n'", "2j", "'ß'", "('a', ['b'])"]


@pytest.mark.parametrize("true", VALUES)
@pytest.mark.parametrize("kind", ["value", "absent"])
def test_a_false_value_differs_and_is_the_same_for_the_same_words(true: str, kind: str) -> None:
    for word in map(str, range(30)):
        false = false_text(kind, true, random_of(word))
        assert ast.literal_eval(false) != ast.literal_eval(true)
        assert false == false_text(kind, true, random_of(word))
    assert true_text(kind, true) == true


def test_a_false_value_does_not_tell_that_it_is_one() -> None:
    seen = Counter(false_text("value", "5", random_of(str(n))) for n in range(400))
    assert set(seen) == {str(n) for n in range(-4, 15) if n != 5}
    assert all(false_text("value", "'ab1'", random_of(str(n))).isprintable() for n in range(20))


@pytest.mark.parametrize(("kind", "left", "right"), [("above", "x", "y"), ("below", "y", "x")])
def test_a_bound_is_moved_out_of_reach(kind: str, left: str, right: str) -> None:
    false = ast.literal_eval(false_text(kind, "10", random_of("w")))
    named = {left: 10**9 if kind == "above" else -(10**9), right: false}
    assert named["x"] < named["y"]

"""The challenge: which expectations are made false in which run, and what the outcome shows. Pure.

Green is believed because red was possible. Over some runs every test is falsified at least once and
left true at least once, at random; it proves something if it is red whenever it is falsified and
green otherwise. Nothing here runs a test.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from tilth.base.safe_text import one_line
from tilth.base.values import Value
from tilth.gate.challenged import ChallengeRun
from tilth.gate.in_target.expected import keyed
from tilth.gate.in_target.falsehoods import near, near_at, other, random_of
from tilth.gate.passing import PytestRun

# A guess without knowledge shall be right once in so many times.
_ODDS = 16
_MOST_ALONE = 5
_TIMES_FALSE, _TIMES_TRUE = 3, 2
_MOST_TEXT = 80
# How many small changes are tried on each test.
_CHANGES = 2


# A literal by its number, and the way to a part of it.
Place = tuple[int, tuple[int, ...]]


class Change(Value):
    """Say what is changed a little: the part of a literal that a way leads to, and how often."""

    number: int
    way: tuple[int, ...] = ()
    turn: int = 0

    def random(self, rule: str) -> Random:
        """Give the source of the change."""
        return random_of(rule, repr((self.number, self.way)), str(self.turn))


class Sites(Value):
    """Hold literals that are expected, by number, plain ones, and whether all else is meant too.

    `near` are places at which a small change must be noticed, `rows` those of each single case.
    """

    sites: tuple[int, ...] = ()
    plain: tuple[int, ...] = ()
    more: bool = False
    near: tuple[Place, ...] = ()
    rows: tuple[tuple[Place, ...], ...] = ()
    change: Change | None = None

    def places(self, turn: int, cases: int) -> tuple[Place, ...]:
        """Give those of one of a test's cases."""
        return (*self.near, *(self.rows[turn] if len(self.rows) == cases else ()))


class Expectations(Value):
    """Hold what test files expect: the files with every literal handed in, and the literals.

    A character of `texts` stands for a byte.
    """

    texts: Mapping[str, str] = {}
    literals: tuple[str, ...] = ()
    functions: Mapping[str, Sites] = {}

    def files(self) -> dict[str, bytes]:
        """Give the files with every expectation looked up."""
        return {path: text.encode("latin-1") for path, text in self.texts.items()}

    def of(self, node: str) -> Sites:
        """Give what a test expects; of one that its class inherits nothing is plain."""
        function = node.partition("[")[0]
        if function in self.functions:
            return self.functions[function]
        end = f"::{function.rpartition('::')[2]}"
        found = [held.sites for name, held in self.functions.items() if name.endswith(end)]
        return Sites(sites=sum(found, ()), more=True)

    def falsehood(self, number: int, rule: str) -> str:
        """Give the false value of a literal."""
        true = ast.literal_eval(self.literals[number])
        return repr(other(true, random_of(rule, str(number))))

    def near(self, change: Change, rule: str) -> tuple[Any, Any]:
        """Give the part of a literal that is changed, before and after."""
        part = ast.literal_eval(self.literals[change.number])
        for turn in change.way:
            part = [*(part.values() if isinstance(part, dict) else part)][turn]
        return part, near(part, change.random(rule))

    def differs(self, change: Change, rule: str) -> bool:
        """Tell whether there is a small change of that part at all."""
        true, false = self.near(change, rule)
        return bool(true != false)

    def changed(self, number: int, changes: Iterable[Change], rule: str) -> str:
        """Give a literal with what is changed of it."""
        value = ast.literal_eval(self.literals[number])
        for change in changes:
            value = near_at(value, change.way, change.random(rule))
        return repr(value)


class Unit(Value):
    """Hold one test with what it expects, and what of it is made false one at a time."""

    key: str
    node: str
    own: Sites
    variants: tuple[Sites, ...] = ()
    changes: tuple[Change, ...] = ()


# What is false of which test in one run, by its key.
Pattern = Mapping[str, Sites]


class Ran(Value):
    """Hold a run that was made: the tests it had, and those that passed; None without a report."""

    false: Pattern
    there: frozenset[str]
    green: frozenset[str] | None = None


class Seen(Value):
    """Hold what became of a test in some runs.

    It `noticed` if it was red once when it was falsified, `missed` what was false when it was
    green, is `coarse` if that was a small change, and was `red` in a run that left it true. With
    `unsettled`, a run left no report, whoever ended it.
    """

    noticed: bool = False
    missed: tuple[Sites, ...] = ()
    coarse: Change | None = None
    red: bool = False
    unsettled: bool = False

    @property
    def blind(self) -> int | None:
        """Give a plain literal that was false unnoticed."""
        plain = (each.sites for each in self.missed if each.plain and not each.more)
        return next((sites[0] for sites in plain), None)

    @property
    def steady(self) -> bool:
        return self.noticed and not self.missed and not self.red

    @property
    def deviates(self) -> bool:
        """Tell whether the test has to be looked at once more."""
        return self.unsettled or self.red or self.blind is not None


def units_of(run: PytestRun, expected: Expectations, rule: str) -> tuple[Unit, ...]:
    """Give the tests of a run that passed; `rule` decides which literals are falsified alone."""
    keys = keyed(list(run.collected))
    cases = Counter(node.partition("[")[0] for node in run.collected)
    passed = [result.node for result in run.results if result.ending == "passed"]
    made = []
    for node in filter(set(passed).__contains__, run.collected):
        own, random = expected.of(node), random_of(rule, keys[node])
        variants = tuple(_variants(own, random))
        places = own.places(int(keys[node].rpartition("#")[2]), cases[node.partition("[")[0]])
        drawn = random.choices(places, k=_CHANGES) if places else []
        changes = [Change(number=n, way=way, turn=turn) for turn, (n, way) in enumerate(drawn)]
        real = tuple(each for each in changes if expected.differs(each, rule))
        made.append(Unit(key=keys[node], node=node, own=own, variants=variants, changes=real))
    return tuple(made)


def _variants(own: Sites, random: Random) -> Iterator[Sites]:
    """Give what is false at a time; plain literals are alone as far as there are few of them."""
    order = random.sample(own.plain, len(own.plain))
    cut = len(order) if len(order) <= _MOST_ALONE + 1 else _MOST_ALONE
    for plain in [*([number] for number in order[:cut]), order[cut:]]:
        if plain:
            yield Sites(sites=tuple(plain), plain=tuple(plain))
    others = tuple(number for number in own.sites if number not in own.plain)
    if others or own.more:
        yield Sites(sites=others, more=own.more)


def patterns(units: Sequence[Unit], nonce: str) -> list[Pattern]:
    """Decide which tests are false in which run."""
    if not units:
        return []
    random = random_of(nonce)
    most = max(len(unit.variants) for unit in units)
    # Only a plain expectation fails what is guessed.
    count = max(_runs_for(sum(bool(unit.own.plain) for unit in units)), most + 1)
    false: list[dict[str, Sites]] = [{} for _ in range(count)]
    for unit in units:
        needed = len(unit.variants)
        turns = random.sample(range(count), random.randint(needed, count - 1))
        for turn, number in enumerate(turns):
            false[number][unit.key] = unit.variants[turn % needed]
    small = [
        {unit.key: Sites(change=unit.changes[turn]) for unit in units if turn < len(unit.changes)}
        for turn in range(_CHANGES)
    ]
    return [*false, *filter(None, small)]


def alone(units: Sequence[Unit], nonce: str) -> list[Pattern]:
    """Give runs in which one test is false at a time, and some in which none is, at random.

    As often as leaves a guess about one chance in sixteen for each test.
    """
    every: list[Pattern] = [
        {unit.key: unit.variants[turn % len(unit.variants)]}
        for unit in units
        for turn in range(max(_TIMES_FALSE, len(unit.variants)) if unit.variants else 0)
    ]
    every += [{}] * _TIMES_TRUE
    random_of(nonce).shuffle(every)
    return every


def _runs_for(tests: int) -> int:
    return next(n for n in range(2, 7) if not tests or (2**n - 2) ** tests >= _ODDS or n == 6)


def tables(
    pattern: Pattern, units: Sequence[Unit], expected: Expectations, rule: str
) -> dict[str, object]:
    """Give what is handed into a run; what is false is decided by the rule alone.

    A literal that a test has as its own is handed in for that test only, so that nothing there
    tells a false one from a true one.
    """
    literals: list[str | None] = [*expected.literals]
    tests: dict[str, object] = {}
    changed: dict[int, list[Change]] = {}
    for unit in units:
        false = pattern.get(unit.key, Sites())
        own = {n: expected.literals[n] for n in unit.own.sites}
        own.update({n: expected.falsehood(n, rule) for n in false.sites})
        if false.change is not None:
            number = false.change.number
            changed.setdefault(number, []).append(false.change)
            if number in own:
                own[number] = expected.changed(number, [false.change], rule)
        tests[unit.key] = {"own": own, "rest": false.more}
        for number in own:
            literals[number] = None
    for number, changes in changed.items():
        if literals[number] is not None:
            literals[number] = expected.changed(number, changes, rule)
    return {"rule": rule, "literals": literals, "tests": tests}


def ran(pattern: Pattern, units: Iterable[Unit], run: PytestRun | None) -> Ran:
    """Say which tests of a run passed."""
    if run is None:
        return Ran(false=pattern, there=frozenset(unit.key for unit in units))
    keys = keyed(list(run.collected))
    green = {keys.get(each.node, "") for each in run.results if each.ending == "passed"}
    return Ran(false=pattern, there=frozenset(keys.values()), green=frozenset(green))


def seen(unit: Unit, runs: Iterable[Ran], *, mixed: bool = True) -> Seen:
    """Say of a test whether it was red exactly when it was falsified.

    Without `mixed` it may be red in a run that falsifies another one.
    """
    noticed = red = unsettled = False
    coarse: Change | None = None
    missed = []
    for run in runs:
        false = run.false.get(unit.key)
        if run.green is None and mixed:
            # Where several tests are false, a run without a report says of none that it noticed.
            unsettled = True
        elif unit.key in (run.green or ()):
            if false is not None and false.change is None:
                missed.append(false)
            elif false is not None:
                coarse = false.change
        elif false is not None:
            noticed = True
        else:
            red = red or mixed or not run.false
    return Seen(noticed=noticed, missed=tuple(missed), coarse=coarse, red=red, unsettled=unsettled)


def signs(units: Sequence[Unit], run: Ran) -> ChallengeRun:
    """Write a run down, a sign for each test: `-` for one that it did not have."""
    had = [(unit.key in run.there, unit.key) for unit in units]
    return ChallengeRun(
        false="".join("01"[key in run.false] if there else "-" for there, key in had),
        red="".join("01"[key not in (run.green or ())] if there else "-" for there, key in had),
    )


def wrong(unit: Unit, found: Seen, expected: Expectations, rule: str) -> str:
    """Say of a test that it does not notice what it should, or is red for no reason."""
    if found.red and found.blind is None:
        return (
            f"{unit.node} is red when it runs once more in a process of its own, with nothing made "
            "false: its result does not come from the code, or from more than these files"
        )
    made = "what it expects was made false"
    if found.blind is not None:
        made = _changed(expected.literals[found.blind], expected.falsehood(found.blind, rule))
    return f"{unit.node} stays green although {made}: its result does not come from the code"


def tells_little(unit: Unit, change: Change, expected: Expectations, rule: str) -> str:
    """Say of a test that it does not notice a small difference."""
    true, false = expected.near(change, rule)
    return f"{unit.node} stays green although {_changed(repr(true), repr(false))}"


def _changed(true: str, false: str) -> str:
    return f"{one_line(true, _MOST_TEXT)} was made {one_line(false, _MOST_TEXT)}"

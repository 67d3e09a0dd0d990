"""The challenge: which expectations are made false in which run, and what the outcome shows. Pure.

Green is believed because red was possible. Over some runs every test is falsified at least once and
left true at least once, at random; it proves something if it is red whenever it is falsified and
green otherwise. Nothing here runs a test.
"""

from __future__ import annotations

import ast
import base64
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random

from tilth.base.values import Value
from tilth.gate.challenged import ChallengeRun
from tilth.gate.in_target.falsehoods import other, random_of
from tilth.gate.in_target.run import keyed
from tilth.gate.passing import PytestRun

# A guess without knowledge shall be right once in so many times.
_ODDS = 16
_MOST_ALONE = 2
_TIMES_FALSE, _TIMES_TRUE = 3, 2
_MOST_TEXT = 80


class FunctionSites(Value):
    """Hold by number the literals a function expects, plain ones, and whether it expects more."""

    sites: tuple[int, ...] = ()
    plain: tuple[int, ...] = ()
    more: bool = True


class Expectations(Value):
    """Hold what test files expect: the files with every literal handed in, and the literals."""

    texts: Mapping[str, str] = {}
    literals: tuple[str, ...] = ()
    functions: Mapping[str, FunctionSites] = {}

    def files(self) -> dict[str, bytes]:
        """Give the files with every expectation looked up."""
        return {path: base64.b64decode(text) for path, text in self.texts.items()}

    def of(self, node: str) -> FunctionSites:
        """Give what a test expects; of one that its class inherits nothing is plain."""
        function = node.partition("[")[0]
        if function in self.functions:
            return self.functions[function]
        end = f"::{function.rpartition('::')[2]}"
        found = [sites for name, sites in self.functions.items() if name.endswith(end)]
        every = (number for sites in found for number in sites.sites)
        return FunctionSites(sites=tuple(every))


class Falsified(Value):
    """Hold what of a test is false: some of its literals, and maybe all else that it expects."""

    sites: tuple[int, ...] = ()
    more: bool = False


class Unit(Value):
    """Hold one test with its literals, and what of it is made false one at a time."""

    key: str
    node: str
    sites: tuple[int, ...] = ()
    plain: frozenset[int] = frozenset()
    variants: tuple[Falsified, ...] = ()


class Pattern(Value):
    """Hold one run to be made: what is false of which test."""

    false: Mapping[str, Falsified]


def units_of(run: PytestRun, expected: Expectations, rule: str) -> tuple[Unit, ...]:
    """Give the tests of a run that passed; `rule` decides which literals are falsified alone."""
    keys = keyed(list(run.collected))
    passed = {result.node for result in run.results if result.ending == "passed"}
    return tuple(
        _unit(node, keys[node], expected.of(node), rule) for node in run.collected if node in passed
    )


def _unit(node: str, key: str, own: FunctionSites, rule: str) -> Unit:
    variants = tuple(_variants(own, random_of(rule, key)))
    plain = frozenset(own.plain)
    return Unit(key=key, node=node, sites=own.sites, plain=plain, variants=variants)


def _variants(own: FunctionSites, random: Random) -> Iterator[Falsified]:
    """Give what is false at a time; plain literals are alone as far as there are few of them."""
    order = random.sample(own.plain, len(own.plain))
    cut = len(order) if len(order) <= _MOST_ALONE + 1 else _MOST_ALONE
    yield from (Falsified(sites=(number,)) for number in order[:cut])
    if order[cut:]:
        yield Falsified(sites=tuple(order[cut:]))
    others = tuple(number for number in own.sites if number not in own.plain)
    if others or own.more:
        yield Falsified(sites=others, more=own.more)


def patterns(units: Sequence[Unit], nonce: str) -> tuple[Pattern, ...]:
    """Decide which tests are false in which run."""
    if not units:
        return ()
    random = random_of(nonce)
    most = max(len(unit.variants) for unit in units)
    # Only a plain expectation fails what is guessed.
    count = max(_runs_for(sum(bool(unit.plain) for unit in units)), most + 1)
    false: list[dict[str, Falsified]] = [{} for _ in range(count)]
    for unit in units:
        needed = len(unit.variants)
        turns = random.sample(range(count), random.randint(needed, count - 1))
        for turn, number in enumerate(turns):
            false[number][unit.key] = unit.variants[turn % needed]
    return tuple(Pattern(false=made) for made in false)


def alone(units: Sequence[Unit], nonce: str) -> tuple[Pattern, ...]:
    """Give runs in which one test is false at a time, and some in which none is, at random.

    As often as leaves a guess about one chance in sixteen for each test.
    """
    every = [
        Pattern(false={unit.key: unit.variants[turn % len(unit.variants)]})
        for unit in units
        for turn in range(max(_TIMES_FALSE, len(unit.variants)) if unit.variants else 0)
    ]
    mixed = [*every, *[Pattern(false={})] * _TIMES_TRUE]
    random_of(nonce).shuffle(mixed)
    return tuple(mixed)


def _runs_for(tests: int) -> int:
    return next(n for n in range(2, 7) if not tests or (2**n - 2) ** tests >= _ODDS or n == 6)


def tables(
    pattern: Pattern, units: Sequence[Unit], expected: Expectations, rule: str
) -> dict[str, object]:
    """Give what is handed into a run; what is false is decided by the rule alone.

    A literal that a test has as its own is handed in for that test only, so that nothing there
    tells a false one from a true one.
    """
    tests: dict[str, object] = {}
    for unit in units:
        chosen = pattern.false.get(unit.key, Falsified())
        own = {
            str(n): falsehood(expected, n, rule) if n in chosen.sites else expected.literals[n]
            for n in unit.sites
        }
        tests[unit.key] = {"own": own, "rest": chosen.more}
    owned = {number for unit in units for number in unit.sites}
    literals = [None if n in owned else text for n, text in enumerate(expected.literals)]
    return {"rule": rule, "literals": literals, "tests": tests}


def falsehood(expected: Expectations, number: int, rule: str) -> str:
    """Give the false value of a literal."""
    true = ast.literal_eval(expected.literals[number])
    return repr(other(true, random_of(rule, str(number))))


class Outcome(Value):
    """Hold what became of the tests of a challenge, by their keys.

    `noticed` were red once when they were falsified, `steady` always and never otherwise. `blind`
    were green though a plain expectation was false, with its number; `red` were so in a
    run that left them true. `unsettled` were in a run that left no report, whoever ended it.
    """

    noticed: frozenset[str] = frozenset()
    steady: frozenset[str] = frozenset()
    blind: Mapping[str, int] = {}
    red: frozenset[str] = frozenset()
    unsettled: bool = False

    def deviates(self, unit: Unit) -> bool:
        """Tell whether a test has to be looked at once more."""
        return self.unsettled or unit.key in self.red.union(self.blind)


def outcome_of(
    units: Iterable[Unit],
    runs: Sequence[tuple[Pattern, PytestRun | None]],
    *,
    others_matter: bool = True,
) -> Outcome:
    """Say of each test whether it was red exactly when it was falsified.

    Without `others_matter` a test may be red in a run that falsifies another one.
    """
    # Where several tests are false, a run without a report says of none that it noticed.
    said = [each for each in runs if each[1] is not None or not others_matter]
    unsettled, runs = len(said) < len(runs), said
    green = [_green(run) for _, run in runs]
    noticed, missed, red = set(), set(), set()
    blind: dict[str, int] = {}
    for unit in units:
        for (pattern, _), passed in zip(runs, green, strict=True):
            chosen = pattern.false.get(unit.key)
            if unit.key not in passed:
                if chosen is not None:
                    noticed.add(unit.key)
                elif others_matter or not pattern.false:
                    red.add(unit.key)
            elif chosen is not None:
                missed.add(unit.key)
                if chosen.sites and not chosen.more and unit.plain.issuperset(chosen.sites):
                    blind.setdefault(unit.key, chosen.sites[0])
    steady = noticed - missed - red
    return Outcome(
        noticed=frozenset(noticed),
        steady=frozenset(steady),
        blind=blind,
        red=frozenset(red),
        unsettled=unsettled,
    )


def signs(units: Sequence[Unit], pattern: Pattern, run: PytestRun | None) -> ChallengeRun:
    """Write a run down, a sign for each test."""
    passed = _green(run)
    return ChallengeRun(
        false="".join("01"[unit.key in pattern.false] for unit in units),
        red="".join("01"[unit.key not in passed] for unit in units),
    )


def _green(run: PytestRun | None) -> Collection[str]:
    if run is None:
        return frozenset()
    keys = keyed(list(run.collected))
    return {keys[r.node] for r in run.results if r.ending == "passed" and r.node in keys}


def blind_words(unit: Unit, number: int | None, expected: Expectations, rule: str) -> str:
    """Say of a test that it does not notice what it should."""
    made = "what it expects was made false"
    if number is not None:
        false = _short(falsehood(expected, number, rule))
        made = f"{_short(expected.literals[number])} was made {false}"
    return f"{unit.node} stays green although {made}: its result does not come from the code"


def red_words(unit: Unit) -> str:
    """Say of a test that it is red although nothing was made false."""
    return (
        f"{unit.node} is red when it runs once more in a process of its own, with nothing made "
        "false: its result does not come from the code, or from more than these files"
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"

"""The challenge: which expectations are made false in which run, and what the outcome shows. Pure.

Green is believed because red was possible. Over some runs every test is falsified at least once and
left true at least once, at random; it proves something if it is red whenever it is falsified and
green otherwise. Nothing here runs a test.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from random import Random

from tilth.base.values import Value
from tilth.gate.challenged import ChallengeRun
from tilth.gate.falsehoods import false_text, random_of, true_text
from tilth.gate.in_target.run import keyed
from tilth.gate.passing import PytestRun

# A guess without knowledge shall be right once in so many times.
_ODDS = 16
_MOST_ALONE = 2
_MOST_TEXT = 80


class Site(Value):
    """Hold one expectation; `in_call` is looked up by each test, another when it is imported."""

    path: str
    line: int
    kind: str
    true: str
    in_call: bool


class FunctionSites(Value):
    """Hold the sites of a function by number: of all its cases, plain ones, and of one case.

    `rows` is how many cases `parametrize` makes of it.
    """

    sites: tuple[int, ...] = ()
    plain: tuple[int, ...] = ()
    rows: int = 1
    cases: Mapping[int, tuple[int, ...]] = {}


class Expectations(Value):
    """Hold what test files expect: the files with every expectation handed in, and the sites."""

    texts: Mapping[str, str] = {}
    sites: tuple[Site, ...] = ()
    functions: Mapping[str, FunctionSites] = {}

    @classmethod
    def read(cls, answer: str | bytes) -> Expectations:
        """Give what a reading of the files has written."""
        return cls.model_validate_json(answer)

    def files(self) -> dict[str, bytes]:
        """Give the files with every expectation handed in."""
        return {path: base64.b64decode(text) for path, text in self.texts.items()}


class Unit(Value):
    """Hold one test with its sites, and the sets of them that are made false one at a time."""

    key: str
    node: str
    sites: tuple[int, ...] = ()
    plain: frozenset[int] = frozenset()
    variants: tuple[tuple[int, ...], ...] = ()


class Pattern(Value):
    """Hold one run to be made: the sites that are false, by the test; `shared` for whoever asks."""

    false: Mapping[str, tuple[int, ...]]
    shared: frozenset[int] = frozenset()


def units_of(run: PytestRun, expected: Expectations, rule: str) -> tuple[Unit, ...]:
    """Give the tests of a run that passed; `rule` decides which sites are falsified alone."""
    keys = keyed(list(run.collected))
    passed = {result.node for result in run.results if result.ending == "passed"}
    cases: dict[str, int] = {}
    for node in run.collected:
        cases[_function(node)] = cases.get(_function(node), 0) + 1
    return tuple(
        _unit(node, keys[node], expected, cases[_function(node)], rule)
        for node in run.collected
        if node in passed
    )


def _unit(node: str, key: str, expected: Expectations, cases: int, rule: str) -> Unit:
    own = expected.functions.get(_function(node), FunctionSites())
    turn = int(key.rpartition("#")[2])
    # Where something else multiplies the cases, which row is whose is not known.
    rows = [own.cases.get(turn, ())] if own.rows == cases else own.cases.values()
    sites = tuple(dict.fromkeys([*own.sites, *(number for row in rows for number in row)]))
    return Unit(
        key=key,
        node=node,
        sites=sites,
        plain=frozenset(own.plain),
        variants=tuple(_variants(sites, own.plain, expected, random_of(rule, key))),
    )


def _variants(
    sites: tuple[int, ...], plain: tuple[int, ...], expected: Expectations, random: Random
) -> Iterator[tuple[int, ...]]:
    """Give sets of sites; plain ones are alone as far as there are few of them."""
    if any(not expected.sites[number].in_call for number in sites):
        yield sites
        return
    order = random.sample(plain, len(plain))
    cut = len(order) if len(order) <= _MOST_ALONE + 1 else _MOST_ALONE
    yield from ((number,) for number in order[:cut])
    if order[cut:]:
        yield tuple(order[cut:])
    if others := tuple(number for number in sites if number not in plain):
        yield others


def patterns(
    units: Sequence[Unit], expected: Expectations, nonce: str, at_least: int = 0
) -> tuple[Pattern, ...]:
    """Decide which tests are false in which run; tests that share what is imported go together."""
    random = random_of(nonce)
    groups = _groups([unit for unit in units if unit.sites], expected)
    if not groups:
        return ()
    most = max(len(unit.variants) for group in groups for unit in group)
    count = max(_runs_for(len(groups)), most + 1, at_least)
    false: list[dict[str, tuple[int, ...]]] = [{} for _ in range(count)]
    shared: list[set[int]] = [set() for _ in range(count)]
    for group in groups:
        needed = max(len(unit.variants) for unit in group)
        turns = random.sample(range(count), random.randint(needed, count - 1))
        for unit in group:
            for turn, number in enumerate(turns):
                chosen = unit.variants[turn % len(unit.variants)]
                false[number][unit.key] = chosen
                shared[number].update(n for n in chosen if not expected.sites[n].in_call)
    return tuple(
        Pattern(false=made, shared=frozenset(known))
        for made, known in zip(false, shared, strict=True)
    )


def alone(units: Sequence[Unit], expected: Expectations, nonce: str) -> tuple[Pattern, ...]:
    """Give runs in which one test is false at a time, and one in which none is, at random."""
    every = [
        Pattern(
            false={unit.key: variant},
            shared=frozenset(n for n in variant if not expected.sites[n].in_call),
        )
        for unit in units
        for variant in unit.variants
    ]
    mixed = [*every, Pattern(false={})]
    random_of(nonce).shuffle(mixed)
    return tuple(mixed)


def _runs_for(groups: int) -> int:
    return next(n for n in range(2, 7) if (2**n - 2) ** groups >= _ODDS or n == 6)


def _groups(units: Sequence[Unit], expected: Expectations) -> list[list[Unit]]:
    """Put tests together that share a site which is evaluated once for all of them."""
    by_site: dict[int, list[Unit]] = {}
    groups: dict[str, list[Unit]] = {}
    for unit in units:
        group = [unit]
        for number in unit.sites:
            if expected.sites[number].in_call:
                continue
            known = by_site.get(number)
            if known is not None and known is not group:
                known.extend(each for each in group if each not in known)
                for other in (n for n, held in by_site.items() if held is group):
                    by_site[other] = known
                group = known
            by_site[number] = group
        for each in group:
            groups[each.key] = group
    return list({id(group): group for group in groups.values()}.values())


def tables(
    pattern: Pattern, units: Sequence[Unit], expected: Expectations, rule: str
) -> dict[str, object]:
    """Give the values that are handed into a run; what is false is decided by the rule alone."""
    true = [true_text(site.kind, site.true) for site in expected.sites]
    false = {
        number: falsehood(expected, number, rule)
        for chosen in pattern.false.values()
        for number in chosen
    }
    defaults = {str(n): false[n] if n in pattern.shared else text for n, text in enumerate(true)}
    tests = {
        unit.key: {
            str(n): false[n] if n in pattern.false.get(unit.key, ()) else true[n]
            for n in unit.sites
            if expected.sites[n].in_call
        }
        for unit in units
    }
    return {"defaults": defaults, "tests": tests}


def falsehood(expected: Expectations, number: int, rule: str) -> str:
    """Give the false value of a site."""
    site = expected.sites[number]
    return false_text(site.kind, site.true, random_of(rule, site.path, str(number)))


class Outcome(Value):
    """Hold what became of the tests of a challenge, by their keys.

    `noticed` were red once when they were falsified, `steady` always and never otherwise. `blind`
    were green though a plain expectation was false, with the sites of that run; `red` were so in a
    run that left them true.
    """

    noticed: frozenset[str] = frozenset()
    steady: frozenset[str] = frozenset()
    blind: Mapping[str, tuple[int, ...]] = {}
    red: frozenset[str] = frozenset()

    @property
    def deviating(self) -> frozenset[str]:
        return self.red.union(self.blind)


def outcome_of(
    units: Iterable[Unit],
    runs: Sequence[tuple[Pattern, PytestRun | None]],
    *,
    others_matter: bool = True,
) -> Outcome:
    """Say of each test whether it was red exactly when it was falsified.

    Without `others_matter` a test may be red in a run that falsifies another one.
    """
    green = [_green(run) for _, run in runs]
    noticed, missed, red = set(), set(), set()
    blind: dict[str, tuple[int, ...]] = {}
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
                if unit.plain.issuperset(chosen):
                    blind[unit.key] = min(blind.get(unit.key, chosen), chosen)
    steady = noticed - missed - red
    return Outcome(
        noticed=frozenset(noticed), steady=frozenset(steady), blind=blind, red=frozenset(red)
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


def blind_words(unit: Unit, chosen: tuple[int, ...], expected: Expectations, rule: str) -> str:
    """Say of a test that it does not notice what it should."""
    number = chosen[0]
    made = _short(falsehood(expected, number, rule))
    was = _short(expected.sites[number].true)
    return (
        f"{unit.node} stays green although {was} was made {made}: "
        "its result does not come from the code"
    )


def red_words(unit: Unit) -> str:
    """Say of a test that it is red although nothing was made false."""
    return (
        f"{unit.node} is red when it runs once more in a process of its own, with nothing made "
        "false: its result does not come from the code, or from more than these files"
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"


def _function(node: str) -> str:
    return node.partition("[")[0]

"""The order in which changes are played: right and wrong in turn, the same every time. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

from tilth.evalcheck.cases import EvalCase, EvalChange
from tilth.evalcheck.question import SuiteQuestion

_Any = TypeVar("_Any")


def questions(cases: Sequence[EvalCase]) -> tuple[SuiteQuestion, ...]:
    """Give every change of a suite; the first of each case come before any second.

    So a limit of twice the number of cases asks each case once each way.
    """
    rights = _dealt([(case, case.rights) for case in cases])
    wrongs = _dealt([(case, case.wrongs) for case in cases])
    return tuple(in_turn(rights, wrongs))


def _dealt(hands: Sequence[tuple[EvalCase, Sequence[EvalChange]]]) -> list[SuiteQuestion]:
    """Take one change of each case after the other, then the next of each."""
    longest = max((len(changes) for _, changes in hands), default=0)
    return [
        SuiteQuestion(case, changes[turn])
        for turn in range(longest)
        for case, changes in hands
        if turn < len(changes)
    ]


def in_turn(one: Sequence[_Any], other: Sequence[_Any]) -> Iterator[_Any]:
    """Alternate between two rows; what is left of the longer one comes last."""
    for pair in zip_longest(one, other):
        yield from (item for item in pair if item is not None)

"""How far two evaluators agree, with and without what chance would give."""

from __future__ import annotations

import pytest

from tilth.contract.verdict import Decision
from tilth.replay.agreement import Agreement, Pair, Ruling, agreement


def pairs(said: str) -> list[Pair]:
    """Give pairs written as `ar`: the old one accepted, the new one rejected; `-` is unreadable."""
    kinds = {"a": Decision.ACCEPT, "r": Decision.REJECT, "-": None}
    return [
        Pair(
            task_id="T-001",
            concern_id="C1",
            tree="t",
            old=Ruling(verdict=kinds[both[0]]),
            new=Ruling(verdict=kinds[both[1]]),
        )
        for both in said.split()
    ]


@pytest.mark.parametrize(
    ("said", "count", "of", "rate", "kappa"),
    [
        ("aa rr", 2, 2, 1.0, 1.0),
        ("ar ra", 0, 2, 0.0, -1.0),
        ("aa ra", 1, 2, 0.5, 0.0),
        # The textbook's: 20 and 15 of 50 alike, by chance 0.5.
        ("aa " * 20 + "ar " * 5 + "ra " * 10 + "rr " * 15, 35, 50, 0.7, 0.4),
        ("aa aa", 2, 2, 1.0, None),
        ("a- -r aa rr", 2, 2, 1.0, 1.0),
        ("a- -a", 0, 0, None, None),
    ],
)
def test_agreement_is_counted_over_what_both_have_ruled_on(
    said: str, count: int, of: int, rate: float | None, kappa: float | None
) -> None:
    assert agreement(pairs(said)) == Agreement(count=count, of=of, rate=rate, kappa=kappa)

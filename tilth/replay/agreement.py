"""Agreement: verdicts of old set beside those of another evaluator, and how far they go together.

Pure: values and sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from tilth.base.values import Value, jsonable
from tilth.contract.verdict import Decision, Proof, RejectionCategory

_DIGITS = 6


class Sight(StrEnum):
    """Say how far the new evaluator could see what the old one saw."""

    SAME = "same"
    # The old one could not look either.
    NO_TOOLS_THEN = "no_tools_then"
    TREE_GONE = "tree_gone"
    REPOSITORY_GONE = "repository_gone"


class Ruling(Value):
    """Hold one verdict; none means that it could not be read."""

    verdict: Decision | None
    rejection_category: RejectionCategory | None = None
    score: int | None = None
    concern: str = ""
    proof: Proof | None = None
    model: str = ""


class Pair(Value):
    """Hold what two evaluators said to the same case."""

    task_id: str
    # The ledger entry it became, counted over the task's verdicts.
    concern_id: str
    tree: str
    old: Ruling
    new: Ruling
    unreadable: tuple[str, ...] = ()
    sight: Sight = Sight.SAME

    @property
    def agrees(self) -> bool | None:
        """Tell whether both came to the same verdict; None where one has none."""
        if self.old.verdict is None or self.new.verdict is None:
            return None
        return self.old.verdict is self.new.verdict

    def document(self) -> dict[str, Any]:
        """Give it as data."""
        return {**jsonable(self), "agrees": self.agrees}


class Agreement(Value):
    """Count on how many cases two evaluators agree; kappa takes away what chance would give."""

    count: int
    of: int
    rate: float | None
    kappa: float | None


def agreement(pairs: Sequence[Pair]) -> Agreement:
    """Work out how far two evaluators agree, over the cases on which both have ruled."""
    ruled = [pair for pair in pairs if pair.agrees is not None]
    count, of = sum(bool(pair.agrees) for pair in ruled), len(ruled)
    if not of:
        return Agreement(count=0, of=0, rate=None, kappa=None)
    rate = count / of
    by_chance = sum(
        _share([pair.old for pair in ruled], decision) * _share([p.new for p in ruled], decision)
        for decision in Decision
    )
    # Where both always say the same, chance alone would agree, and nothing can be said beyond it.
    kappa = None if by_chance == 1 else round((rate - by_chance) / (1 - by_chance), _DIGITS)
    return Agreement(count=count, of=of, rate=round(rate, _DIGITS), kappa=kappa)


def _share(rulings: Sequence[Ruling], decision: Decision) -> float:
    return sum(ruling.verdict is decision for ruling in rulings) / len(rulings)

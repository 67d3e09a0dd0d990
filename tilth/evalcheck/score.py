"""The score: how often an evaluator was wrong, and how sure that figure is. Pure sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from tilth.base.rate import Rate
from tilth.base.values import Value
from tilth.contract.verdict import Decision, Proof, RejectionCategory
from tilth.task.budget import Spend


class Mistake(StrEnum):
    """Name what an evaluator can get wrong."""

    FALSE_ACCEPT = "false_accept"
    FALSE_REJECT = "false_reject"
    UNREADABLE = "unreadable"


class Play(Value):
    """Hold one verdict on one change; no verdict means that it could not be read.

    `unreadable` says why of each answer that could not be read, also where a later one could.
    """

    case: str
    change: str
    category: RejectionCategory
    is_right: bool
    round: int = 1
    verdict: Decision | None = None
    rejection_category: RejectionCategory | None = None
    score: int | None = None
    below_threshold: bool = False
    concern: str = ""
    proof: Proof | None = None
    unreadable: tuple[str, ...] = ()
    model: str = ""
    spend: Spend = Spend()
    seconds: float = 0.0

    @property
    def mistake(self) -> Mistake | None:
        if self.verdict is None:
            return Mistake.UNREADABLE
        if self.verdict is Decision.ACCEPT and not self.is_right:
            return Mistake.FALSE_ACCEPT
        if self.verdict is Decision.REJECT and self.is_right:
            return Mistake.FALSE_REJECT
        return None

    @property
    def is_proven(self) -> bool:
        return self.proof is Proof.PROVEN


class Tally(Value):
    """Hold what a number of plays came to.

    A false accept is counted among the wrong changes with a verdict, a false reject among the right
    ones; an unreadable review is neither.
    """

    false_accept: Rate
    false_reject: Rate
    unreadable: int
    proven: int


def tally(plays: Sequence[Play]) -> Tally:
    """Count what a number of plays came to."""
    read = [play for play in plays if play.verdict is not None]
    wrong = [play for play in read if not play.is_right]
    right = [play for play in read if play.is_right]
    return Tally(
        false_accept=Rate.share(sum(bool(play.mistake) for play in wrong), len(wrong)),
        false_reject=Rate.share(sum(bool(play.mistake) for play in right), len(right)),
        unreadable=len(plays) - len(read),
        proven=sum(play.is_proven for play in plays),
    )


def by_category(plays: Sequence[Play]) -> Mapping[RejectionCategory, Tally]:
    """Count for each category of fault that was played."""
    played = {play.category for play in plays}
    return {
        category: tally([play for play in plays if play.category is category])
        for category in RejectionCategory
        if category in played
    }


def agreeing(plays: Sequence[Play]) -> tuple[int, int]:
    """Count the changes on which every round came to the same verdict, of all changes."""
    verdicts: dict[tuple[str, str], set[Decision | None]] = {}
    for play in plays:
        verdicts.setdefault((play.case, play.change), set()).add(play.verdict)
    return sum(len(said) == 1 for said in verdicts.values()), len(verdicts)

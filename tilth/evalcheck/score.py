"""The score: what an evaluator got right and wrong over all planted changes. Pure sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilth.base.values import Value
from tilth.contract.verdict import Decision, RejectionCategory


class Play(Value):
    """Hold one verdict on one planted change; no verdict means that it could not be read."""

    name: str
    category: RejectionCategory
    is_right: bool
    fault: str | None
    model: str
    unread_answers: int = 0
    verdict: Decision | None = None
    said_category: RejectionCategory | None = None
    score: int | None = None
    below_threshold: bool = False
    concern: str = ""

    @property
    def is_false_accept(self) -> bool:
        return self.verdict is Decision.ACCEPT and not self.is_right

    @property
    def is_false_reject(self) -> bool:
        return self.verdict is Decision.REJECT and self.is_right

    @property
    def is_unread(self) -> bool:
        return self.verdict is None

    @property
    def is_mistake(self) -> bool:
        return self.is_false_accept or self.is_false_reject or self.is_unread


class Tally(Value):
    """Count mistakes; `unread_answers` were asked for again, `unread` had no verdict at all.

    `same_category` counts rejections of wrong changes that named the planted category. `agreeing`
    counts changes on which every play came to the same verdict, of `changes` in all.
    """

    plays: int
    changes: int
    false_accepts: int
    false_rejects: int
    unread: int
    unread_answers: int
    same_category: int
    agreeing: int

    @property
    def mistakes(self) -> int:
        return self.false_accepts + self.false_rejects + self.unread


def tally(plays: Sequence[Play]) -> Tally:
    """Count what a number of plays came to."""
    verdicts: dict[str, set[Decision | None]] = {}
    for play in plays:
        verdicts.setdefault(play.name, set()).add(play.verdict)
    return Tally(
        plays=len(plays),
        changes=len(verdicts),
        false_accepts=sum(play.is_false_accept for play in plays),
        false_rejects=sum(play.is_false_reject for play in plays),
        unread=sum(play.is_unread for play in plays),
        unread_answers=sum(play.unread_answers for play in plays),
        same_category=sum(
            not play.is_right and play.said_category is play.category for play in plays
        ),
        agreeing=sum(len(said) == 1 for said in verdicts.values()),
    )


def by_category(plays: Sequence[Play]) -> Mapping[RejectionCategory, Tally]:
    """Count for each category of fault."""
    return {
        category: tally([play for play in plays if play.category is category])
        for category in RejectionCategory
    }

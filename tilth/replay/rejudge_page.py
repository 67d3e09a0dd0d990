"""The page of a session judged again: its table for people and its document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tilth.base.safe_text import one_line
from tilth.base.values import jsonable
from tilth.replay.agreement import Pair, Ruling, Sight, agreement
from tilth.show.figures import clock, cost, count
from tilth.show.note import Tone
from tilth.show.tables import Cell, Column, Page
from tilth.task.budget import Spend

_COLUMNS = (
    Column("task", whole=True),
    Column("verdict", whole=True),
    Column("tree", whole=True),
    Column("was"),
    Column("is now"),
    Column("", whole=True),
)
_LIMITED = {
    Sight.NO_TOOLS_THEN: "judged without looking, as it was then",
    Sight.TREE_GONE: "judged without looking: its tree is gone from the repository",
    Sight.REPOSITORY_GONE: "judged without looking: its repository is gone",
}


@dataclass(frozen=True)
class Rejudged:
    """Hold what came of it: who was asked, what was said, and what that took."""

    session: str
    evaluator: str
    pairs: tuple[Pair, ...]
    of: int
    spent: Spend
    seconds: float


def show(page: Page, found: Rejudged) -> None:
    """Put old and new verdicts side by side, and how far they go together."""
    page.table(_COLUMNS, [_row(pair) for pair in found.pairs])
    _put_limits(page, found.pairs)
    page.line()
    both = agreement(found.pairs)
    share = f", {100 * both.rate:.0f}%" if both.rate is not None else ""
    kappa = "not defined" if both.kappa is None else f"{both.kappa:.2f}"
    page.facts(
        [
            ("evaluator", found.evaluator),
            ("judged", f"{len(found.pairs)} of {found.of} recorded cases"),
            ("agreement", f"{both.count} of {both.of}{share}; Cohen's kappa {kappa}"),
            ("cost", f"{cost(found.spent)}, {count(found.spent.usage.counted)} tokens"),
            ("time", clock(found.seconds)),
        ]
    )


def document(found: Rejudged) -> dict[str, Any]:
    """Give all of it as data."""
    return {
        "session": found.session,
        "evaluator": found.evaluator,
        "judged": len(found.pairs),
        "of": found.of,
        "agreement": jsonable(agreement(found.pairs)),
        "cost_usd": found.spent.whole_cost_usd,
        "tokens": found.spent.usage.counted,
        "seconds": round(found.seconds, 3),
        "cases": [pair.document() for pair in found.pairs],
    }


def _row(pair: Pair) -> list[Cell]:
    marks = {True: Cell("same", Tone.QUIET), False: Cell("DIFFERS", Tone.BAD), None: Cell("-")}
    return [
        Cell(pair.task_id),
        Cell(pair.concern_id),
        Cell(pair.tree[:12]),
        Cell(ruled(pair.old)),
        Cell(ruled(pair.new, pair)),
        marks[pair.agrees],
    ]


def ruled(ruling: Ruling, pair: Pair | None = None) -> str:
    """Say one verdict in a few words."""
    if ruling.verdict is None:
        why = "; ".join(one_line(reason) for reason in pair.unreadable) if pair else ""
        return f"unreadable: {why}" if why else "unreadable"
    category = f" {ruling.rejection_category}" if ruling.rejection_category else ""
    score = "" if ruling.score is None else f", score {ruling.score}"
    proof = f", {ruling.proof}" if ruling.proof else ""
    return f"{ruling.verdict}{category}{score}{proof}"


def _put_limits(page: Page, pairs: Sequence[Pair]) -> None:
    """Say where the record did not allow for the same sight."""
    limited = [(sight, [pair for pair in pairs if pair.sight is sight]) for sight in _LIMITED]
    for sight, found in limited:
        if found:
            names = ", ".join(f"{pair.task_id} {pair.concern_id}" for pair in found)
            page.line(f"{names}: {_LIMITED[sight]}")

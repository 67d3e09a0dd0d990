"""The page of a check: its table for people and its document for programs.

It puts figures into words and columns; it counts nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilth.base.rate import Rate
from tilth.base.safe_text import one_line
from tilth.base.values import jsonable
from tilth.contract.verdict import Proof
from tilth.evalcheck.score import Mistake, Play, Tally, agreeing, by_category, tally
from tilth.show.figures import clock, cost, count, counted
from tilth.show.note import Tone
from tilth.show.tables import Cell, Column, Page
from tilth.task.budget import Spend

_COLUMNS = (
    Column("category", whole=True),
    Column("false accepts", right=True),
    Column("95%", right=True),
    Column("false rejects", right=True),
    Column("95%", right=True),
    Column("unreadable", right=True),
    Column("proven", right=True),
)
_MARKS = {
    None: "ok",
    Mistake.FALSE_ACCEPT: "FALSE ACCEPT",
    Mistake.FALSE_REJECT: "FALSE REJECT",
    Mistake.UNREADABLE: "UNREADABLE",
}


def show(
    page: Page,
    plays: Sequence[Play],
    evaluator: str,
    spent: Spend,
    notes: dict[tuple[str, str], str],
) -> None:
    """Put the table, every mistake with what it was about, and what it took."""
    rows = [_row(str(category), counts) for category, counts in by_category(plays).items()]
    page.table(_COLUMNS, [*rows, _row("all", tally(plays))])
    mistakes = [play for play in plays if play.mistake]
    if mistakes:
        page.line()
    for play in mistakes:
        page.line(said(play), Tone.BAD)
        note = notes.get((play.case, play.change))
        if note:
            page.line(f"  {'right' if play.is_right else 'wrong'} because: {one_line(note, 400)}")
    page.line()
    page.facts(_facts(plays, evaluator, spent))


def _facts(plays: Sequence[Play], evaluator: str, spent: Spend) -> list[tuple[str, str]]:
    same, changes = agreeing(plays)
    rounds = max((play.round for play in plays), default=1)
    return [
        ("evaluator", evaluator),
        ("played", f"{counted(len(plays), 'verdict')} on {counted(changes, 'change')}"),
        (
            "same verdict",
            f"{same} of {changes} changes, over {rounds} rounds" if rounds > 1 else "",
        ),
        ("cost", f"{cost(spent)}, {count(spent.usage.counted)} tokens"),
        ("time", clock(sum(play.seconds for play in plays))),
    ]


def _row(name: str, counts: Tally) -> list[Cell]:
    return [
        Cell(name),
        *_share(counts.false_accept),
        *_share(counts.false_reject),
        _counted(counts.unreadable),
        Cell(str(counts.proven)),
    ]


def _share(rate: Rate) -> list[Cell]:
    shown = f"{rate.count}/{rate.of}"
    span = f"{100 * rate.low:.1f}-{100 * rate.high:.1f}%" if rate.of else "-"
    return [Cell(shown, Tone.BAD if rate.count else Tone.PLAIN), Cell(span, Tone.QUIET)]


def _counted(number: int) -> Cell:
    return Cell(str(number), Tone.BAD if number else Tone.PLAIN)


def said(play: Play) -> str:
    """Say one play in one line."""
    again = f" (round {play.round})" if play.round > 1 else ""
    return f"{_MARKS[play.mistake]}: {play.case} {play.change}{again}: {_ruled(play)}"


def _ruled(play: Play) -> str:
    unread = "; ".join(one_line(reason) for reason in play.unreadable)
    if play.verdict is None:
        return f"no readable verdict: {unread}"
    category = f" {play.rejection_category}" if play.rejection_category else ""
    score = "" if play.score is None else f", score {play.score}"
    proof = f", {play.proof}" if play.proof in (Proof.PROVEN, Proof.UNPROVEN) else ""
    low = ", an accept below the threshold" if play.below_threshold else ""
    again = f" (asked again: {unread})" if unread else ""
    concern = f": {one_line(play.concern)}" if play.mistake else ""
    return f"{play.verdict}{category}{score}{proof}{low}{again}{concern}"


def document(plays: Sequence[Play], spent: Spend) -> dict[str, Any]:
    """Give all of it as data."""
    return {
        **jsonable(tally(plays)),
        "cost_usd": spent.whole_cost_usd,
        "by_category": {
            str(category): jsonable(counts) for category, counts in by_category(plays).items()
        },
        "cases": [_case(play) for play in plays],
    }


def _case(play: Play) -> dict[str, Any]:
    shown = {
        name: value
        for name, value in jsonable(play).items()
        if name not in ("is_right", "spend", "seconds")
    }
    return {
        **shown,
        "right": play.is_right,
        "mistake": play.mistake and str(play.mistake),
        "cost_usd": play.spend.whole_cost_usd,
        "tokens": play.spend.usage.counted,
        "seconds": play.seconds,
    }

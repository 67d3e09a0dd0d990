"""The page of a check: what people see of it, and what programs get."""

from __future__ import annotations

import io

from tilth.contract.verdict import Decision, RejectionCategory
from tilth.evalcheck.page import document, said, show
from tilth.evalcheck.score import Play
from tilth.model.messages import Usage
from tilth.show.tables import Page
from tilth.task.budget import Spend

USAGE = Usage(input_tokens=1000, output_tokens=200)
PLAYS = (
    Play(
        case="keyset-pages",
        change="wrong/off-by-one",
        category=RejectionCategory.ACCEPTANCE_GAP,
        is_right=False,
        verdict=Decision.ACCEPT,
        score=88,
        concern="Sound\x1b[2J.",
        spend=Spend().after(USAGE, 0.5),
        seconds=70.0,
    ),
    Play(
        case="keyset-pages",
        change="right/plain",
        category=RejectionCategory.ACCEPTANCE_GAP,
        is_right=True,
        unreadable=("it has 0 calls", "it has 2 calls"),
        spend=Spend().after(USAGE, 0.5),
        seconds=5.0,
    ),
)
SPENT = Spend.total(play.spend for play in PLAYS)


def shown(plays: tuple[Play, ...], spent: Spend = SPENT) -> str:
    stream = io.StringIO()
    notes = {("keyset-pages", "wrong/off-by-one"): "The last page is lost."}
    show(Page(stream, {}), plays, "a model at an endpoint", spent, notes)
    return stream.getvalue()


def test_a_table_has_counts_and_intervals_and_every_mistake_its_reason() -> None:
    text = shown(PLAYS)
    rows = [line.split() for line in text.splitlines()]
    assert rows[1] == ["acceptance_gap", "1/1", "20.7-100.0%", "0/0", "-", "1", "0"]
    assert rows[2][0] == "all"
    assert "FALSE ACCEPT: keyset-pages wrong/off-by-one: accept, score 88: Sound␛[2J." in text
    assert "  wrong because: The last page is lost." in text
    assert "no readable verdict: it has 0 calls; it has 2 calls" in text
    assert "played     2 verdicts on 2 changes" in text
    assert "cost       $1.00, 2.4k tokens" in text
    assert "time       1:15" in text


def test_over_several_rounds_it_says_how_far_it_agrees_with_itself() -> None:
    again = PLAYS[0].model_copy(update={"round": 2, "verdict": Decision.REJECT})
    assert "same verdict" not in shown(PLAYS)
    assert "same verdict  1 of 2 changes, over 2 rounds" in shown((*PLAYS, again))


def test_a_price_nobody_knows_is_null_and_never_nothing() -> None:
    unknown = Spend().after(USAGE, None)
    assert document(PLAYS, unknown)["cost_usd"] is None
    assert "cost       unknown" in shown(PLAYS, unknown)


def test_a_verdict_that_was_asked_for_again_says_why() -> None:
    mended = PLAYS[1].model_copy(
        update={"verdict": Decision.ACCEPT, "unreadable": ("it has 0 calls",)}
    )
    assert said(mended) == "ok: keyset-pages right/plain: accept (asked again: it has 0 calls)"

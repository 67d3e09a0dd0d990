"""`tilth eval-check`: the evaluator put to the test, and the table of its mistakes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tilth.base.clock import SystemClock
from tilth.base.errors import CapReached, Interrupted, ProviderError, UserError
from tilth.base.interrupt import Interrupt
from tilth.base.safe_text import one_line
from tilth.base.values import jsonable
from tilth.config.secrets import Mask
from tilth.config.settings import Endpoint, Settings, known_secrets, load
from tilth.contract.outcomes import ExitCode
from tilth.evalcheck.planted import Planted, planted
from tilth.evalcheck.score import Play, Tally, by_category, tally
from tilth.evalcheck.trial import Examiner, Hearing
from tilth.log.events import CapWarning, ModelRetry, Payload, QuotaWait
from tilth.model.messages import Role
from tilth.model.provider import AnthropicModel
from tilth.model.reviewers import Reviewers, read_reviewers
from tilth.session.endpoints import model_at
from tilth.session.parts import new_id
from tilth.show.note import Tone
from tilth.show.notices import complain, tell
from tilth.show.tables import Cell, Column, Page
from tilth.show.terminal import stop_on_signals
from tilth.show.times import clock_time


def eval_check(
    *,
    as_json: bool,
    repeat: int,
    reviewer: str | None,
    environ: Mapping[str, str] = os.environ,
) -> int:
    """Play every planted change, say what came of it, and count the mistakes."""
    settings = load({}, environ)
    reviewers = read_reviewers(settings, environ)
    endpoint = _endpoint(settings, reviewers, reviewer)
    mask = Mask((*known_secrets(settings), *reviewers.secrets))
    interrupt = Interrupt()
    model = model_at(endpoint, interrupt)
    examiner = _examiner(settings, model, mask, interrupt)
    plays: list[Play] = []
    try:
        with stop_on_signals(interrupt):
            _play_all(examiner, plays, repeat)
    except (ProviderError, CapReached, Interrupted) as error:
        complain(f"stopped after {len(plays)} plays: {error}")
        return _CODES.get(type(error), ExitCode.PROVIDER)
    finally:
        model.close()
    page = Page.out(environ)
    if as_json:
        page.json(_document(examiner, plays, repeat))
    else:
        _show(page, examiner, plays, repeat)
    return ExitCode.TASK_FAILED if tally(plays).mistakes else ExitCode.DONE


_CODES: Mapping[type[Exception], ExitCode] = {
    CapReached: ExitCode.CAP,
    Interrupted: ExitCode.INTERRUPTED,
}


def _endpoint(settings: Settings, reviewers: Reviewers, name: str | None) -> Endpoint:
    if name is None:
        return settings.require_endpoint(Role.EVALUATOR)
    if name not in reviewers.defined:
        known = ", ".join(reviewers.defined) or "none"
        raise UserError(f"{reviewers.source} defines no reviewer {name!r}; it has: {known}")
    return reviewers.endpoint(name, settings)


def _examiner(
    settings: Settings, model: AnthropicModel, mask: Mask, interrupt: Interrupt
) -> Examiner:
    clock = SystemClock()
    return Examiner(
        model=model,
        settings=settings,
        emit=Hearing(_hear),
        clock=clock,
        mask=mask,
        interrupt=interrupt,
        new_id=new_id,
        started=clock.monotonic(),
    )


def _hear(payload: Payload) -> None:
    if isinstance(payload, ModelRetry):
        tell(f"endpoint: {one_line(payload.error)}, trying again in {payload.delay_s:.0f} s")
    elif isinstance(payload, QuotaWait):
        tell(f"endpoint: {one_line(payload.error)}; waiting until {clock_time(payload.until)}")
    elif isinstance(payload, CapWarning):
        tell(f"warning: {payload.used:g} of {payload.limit:g} is used ({payload.cap})")


def _play_all(examiner: Examiner, plays: list[Play], repeat: int) -> None:
    changes = planted()
    tell(f"playing {len(changes)} changes to {one_line(examiner.model.name)}, {repeat} time(s)")
    for number in range(repeat):
        for change in changes:
            play = examiner.play(change)
            plays.append(play)
            tell(_said(play, change, number if repeat > 1 else None))


def _said(play: Play, change: Planted, number: int | None) -> str:
    again = "" if number is None else f" (play {number + 1})"
    mark = "wrong" if play.is_mistake else "ok"
    return f"  {mark:<5}  {change.name}{again}: {_verdict(play)}"


def _verdict(play: Play) -> str:
    if play.verdict is None:
        return "no readable verdict"
    category = f" {play.said_category}" if play.said_category else ""
    score = "" if play.score is None else f", score {play.score}"
    low = ", an accept below the threshold" if play.below_threshold else ""
    return f"{play.verdict}{category}{score}{low}"


def _show(page: Page, examiner: Examiner, plays: Sequence[Play], repeat: int) -> None:
    columns = [
        Column("category", whole=True),
        *(Column(name, right=True) for name in ("false accepts", "false rejects", "unreadable")),
        Column("named the fault", right=True),
        # One play agrees with itself: the column would say nothing.
        *([Column("same verdict", right=True)] if repeat > 1 else []),
    ]
    rows = [_row(str(category), counts) for category, counts in by_category(plays).items()]
    whole = tally(plays)
    shown = [row[: len(columns)] for row in (*rows, _row("all", whole))]
    page.table(columns, shown)
    mistakes = [play for play in plays if play.is_mistake]
    if mistakes:
        page.line()
    for play in mistakes:
        page.line(f"{play.name}: {_verdict(play)}: {one_line(play.concern)}", Tone.BAD)
        if play.fault:
            page.line(f"  the fault: {play.fault}")
    page.line()
    page.facts(
        [
            ("evaluator", f"{examiner.model.name} at {examiner.model.endpoint}"),
            ("played", f"{whole.plays} verdicts on {whole.changes} changes"),
            ("cost", _cost(examiner)),
        ]
    )


def _row(name: str, counts: Tally) -> list[Cell]:
    wrong = counts.plays // 2
    return [
        Cell(name),
        *(
            Cell(str(number), Tone.BAD if number else Tone.PLAIN)
            for number in (counts.false_accepts, counts.false_rejects, counts.unread)
        ),
        Cell(f"{counts.same_category}/{wrong}"),
        Cell(f"{counts.agreeing}/{counts.changes}"),
    ]


def _cost(examiner: Examiner) -> str:
    meter = examiner.meter
    tokens = f"{meter.tokens} tokens"
    if meter.unpriced_calls:
        return f"unknown, {tokens}"
    return f"${meter.cost_usd:.4f}, {tokens}"


def _document(examiner: Examiner, plays: Sequence[Play], repeat: int) -> dict[str, Any]:
    meter = examiner.meter
    whole = tally(plays)
    return {
        "evaluator": {"model": examiner.model.name, "endpoint": examiner.model.endpoint},
        "threshold": examiner.settings.eval_threshold,
        "repeat": repeat,
        **jsonable(whole),
        "agreement": whole.agreeing / whole.changes,
        "cost_usd": None if meter.unpriced_calls else meter.cost_usd,
        "tokens": meter.tokens,
        "by_category": {
            str(category): jsonable(counts) for category, counts in by_category(plays).items()
        },
        "verdicts": [jsonable(play) for play in plays],
    }

"""`tilth rejudge`: a session's recorded cases put to another evaluator, and where they differ."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import ExitStack

from tilth.base.clock import SystemClock
from tilth.base.errors import CapReached, Interrupted, ProviderError, UserError
from tilth.base.interrupt import Interrupt
from tilth.base.safe_text import one_line
from tilth.config.secrets import Mask
from tilth.config.settings import Endpoint, Settings, load
from tilth.contract.operator_word import find_task
from tilth.contract.outcomes import ExitCode
from tilth.contract.verdict import concern_id
from tilth.log.past_reviews import PastReview, every_review
from tilth.log.state import fold
from tilth.model.messages import Model
from tilth.model.reviewers import read_reviewers
from tilth.replay.account import Account, Unwritten
from tilth.replay.agreement import Pair
from tilth.replay.ground import open_ground
from tilth.replay.judge_again import Judge, could_look
from tilth.replay.rejudge_page import Rejudged, document, ruled, show
from tilth.sandbox.choose import refuse_unconfined
from tilth.session.catalog import open_to_look
from tilth.session.endpoints import model_at
from tilth.session.parts import new_id
from tilth.session.session import Session
from tilth.show.bar import Bar
from tilth.show.figures import counted
from tilth.show.notices import complain
from tilth.show.tables import Page
from tilth.show.terminal import stop_on_signals
from tilth.task.budget import Spend

_CODES: dict[type[Exception], ExitCode] = {
    ProviderError: ExitCode.PROVIDER,
    CapReached: ExitCode.CAP,
    Interrupted: ExitCode.INTERRUPTED,
}


def rejudge(
    wanted: str,
    task: str | None,
    *,
    reviewer: str | None,
    model: str | None,
    as_json: bool,
    environ: MutableMapping[str, str] = os.environ,
) -> int:
    """Put every recorded review to an evaluator, and set the verdicts side by side."""
    if reviewer is not None and model is not None:
        raise UserError("--reviewer and --model exclude each other: give one of them")
    settings = load({} if model is None else {"evaluator_model": model}, environ)
    reviewers = read_reviewers(settings, environ)
    session = open_to_look(settings, wanted)
    cases = _cases(session, task)
    endpoint = reviewers.chosen(reviewer, settings)
    if any(could_look(past) for _, past in cases):
        refuse_unconfined(settings.sandbox, "rejudge runs the probes of evaluators")
    mask = reviewers.mask(settings)
    reviewers.conceal(environ)
    asking = _Asking(session, settings, endpoint, mask, environ)
    code = asking.judge(cases)
    asking.put(Page.out(environ), as_json=as_json)
    return code


def _cases(session: Session, task: str | None) -> list[tuple[str, PastReview]]:
    """Give the recorded reviews, each with the id of the verdict it ended in."""
    only = find_task(session.plan, task).id if task is not None and session.has_plan else task
    found = [each for each in _numbered(session) if only in (None, each[1].verdict.task_id)]
    if not found:
        about = f" on {only}" if only else ""
        raise UserError(
            f"session {session.id} holds no verdict of an evaluator{about}: "
            "there is nothing to judge again"
        )
    return found


def _numbered(session: Session) -> Iterator[tuple[str, PastReview]]:
    ledgers = {name: task.ledger for name, task in fold(session.events()).tasks.items()}
    for past in every_review(session.events()):
        entries = ledgers.get(past.verdict.task_id, ())
        known = [n for n, entry in enumerate(entries) if entry.ts == past.verdict.ts]
        yield past.verdict.id or concern_id(known[0] if known else 0), past


class _Asking:
    """Put one case after the other to an evaluator, and keep what it says."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        endpoint: Endpoint,
        mask: Mask,
        environ: MutableMapping[str, str],
    ) -> None:
        self._session = session
        self._settings = settings
        self._endpoint = endpoint
        self._mask = mask
        self._environ = environ
        self._interrupt = Interrupt()
        self._pairs: list[Pair] = []
        self._of = 0
        self._spent = Spend()
        self._seconds = 0.0

    def judge(self, cases: Sequence[tuple[str, PastReview]]) -> ExitCode:
        """Judge all of them; give the exit code of whatever stopped it, or of how it went."""
        self._of = len(cases)
        system, model = SystemClock(), model_at(self._endpoint, self._interrupt)
        started = system.monotonic()
        with Bar(len(cases), 0, self._environ) as bar, ExitStack() as stack:
            stack.callback(model.close)
            stack.enter_context(stop_on_signals(self._interrupt, bar.remark))
            account = Account(
                settings=self._settings,
                emit=Unwritten(bar.hear),
                clock=system,
                mask=self._mask,
                interrupt=self._interrupt,
                started=started,
            )
            try:
                self._judge_all(self._judge(account, model, stack), cases, bar)
            except (ProviderError, CapReached, Interrupted) as error:
                done = f"{len(self._pairs)} of {len(cases)}"
                complain(f"stopped after {done}: {one_line(str(error), 400)}")
                return next(code for kind, code in _CODES.items() if isinstance(error, kind))
            finally:
                self._spent = account.spent
                self._seconds = system.monotonic() - started
        judged = all(pair.new.verdict is not None for pair in self._pairs)
        return ExitCode.DONE if judged else ExitCode.TASK_FAILED

    def _judge(self, account: Account, model: Model, stack: ExitStack) -> Judge:
        ground = (self._session, self._settings, self._mask, model, self._interrupt, self._environ)
        return Judge(
            self._session,
            account,
            model,
            fold(self._session.events()),
            lambda: stack.enter_context(open_ground(*ground)),
            new_id,
        )

    def _judge_all(self, judge: Judge, cases: Sequence[tuple[str, PastReview]], bar: Bar) -> None:
        bar.say(f"putting {counted(len(cases), 'case')} to {one_line(self._endpoint.model)}")
        for name, past in cases:
            self._interrupt.check()
            pair = judge.again(past, name)
            self._pairs.append(pair)
            changed = pair.agrees is not True
            bar.step(f"{pair.task_id} {name}: {ruled(pair.new, pair)}", stays=changed)

    def put(self, page: Page, *, as_json: bool) -> None:
        """Put the table or the document; with nothing judged there is no table."""
        by = f"{self._endpoint.model} at {self._endpoint.address}"
        found = Rejudged(
            self._session.id, by, tuple(self._pairs), self._of, self._spent, self._seconds
        )
        if as_json:
            page.json(document(found))
        elif self._pairs:
            show(page, found)

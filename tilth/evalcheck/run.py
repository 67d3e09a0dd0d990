"""`tilth eval-check`: the evaluator put to the test, and what its mistakes add up to."""

from __future__ import annotations

import os
import time
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field

from tilth import __version__
from tilth.base.clock import SystemClock, stamp
from tilth.base.interrupt import Interrupt
from tilth.base.safe_text import one_line
from tilth.base.values import jsonable
from tilth.config.secrets import Mask
from tilth.config.settings import Endpoint, Settings, load
from tilth.contract.outcomes import ExitCode, StopReason, exit_code
from tilth.evalcheck import page as pages
from tilth.evalcheck.cases import BrokenCase
from tilth.evalcheck.kept import Entry, Kept, name_of, open_kept
from tilth.evalcheck.score import Play, by_category, tally
from tilth.evalcheck.trial import Examiner, TrialHalted
from tilth.evalcheck.wanted import Check, Wanted, gather
from tilth.log.events import CapWarning, Event, QuotaWait
from tilth.model.reviewers import read_reviewers
from tilth.sandbox.choose import refuse_unconfined
from tilth.session.endpoints import model_at
from tilth.session.measured import Measurement, keep, prompt_sha256
from tilth.show.bar import Bar
from tilth.show.figures import counted
from tilth.show.notices import complain
from tilth.show.tables import Page
from tilth.show.terminal import stop_on_signals
from tilth.task.budget import CAP_SETTINGS, Spend


def eval_check(
    wanted: Wanted, *, as_json: bool, environ: MutableMapping[str, str] = os.environ
) -> int:
    """Play every change that is wanted, and say and keep what came of it."""
    settings = load({}, environ)
    reviewers = read_reviewers(settings, environ)
    endpoint = reviewers.chosen(wanted.reviewer, settings)
    refuse_unconfined(settings.sandbox, "eval-check runs the code of its cases")
    check = gather(settings, wanted)
    for problem in check.problems:
        complain(f"{problem} (skipped)")
    mask = reviewers.mask(settings)
    reviewers.conceal(environ)
    with open_kept(settings.home, _name(check, settings, endpoint)) as kept:
        playing = _Playing(check, kept, settings, endpoint, mask, environ)
        code = playing.go_on()
        if code is not None:
            return code
        plays, spent = kept.plays, kept.spend
        if plays:
            keep(settings.home, _measurement(check, settings, endpoint, plays, spent))
        kept.finish()
    _put(check, plays, endpoint, spent, Page.out(environ), as_json=as_json)
    return ExitCode.TASK_FAILED if check.problems else ExitCode.DONE


def _name(check: Check, settings: Settings, endpoint: Endpoint) -> str:
    """Name a check by all that decides what is asked, and of whom."""
    asked = [question.fingerprint for question in check.asked]
    whom = [endpoint.model, endpoint.base_url, prompt_sha256(settings)]
    return name_of([*whom, settings.mutation_seconds, check.wanted.repeat, *asked])


@dataclass
class _Playing:
    """Play what is left of a check, and keep each play as it is done."""

    check: Check
    kept: Kept
    settings: Settings
    endpoint: Endpoint
    mask: Mask
    environ: MutableMapping[str, str]
    warned: set[str] = field(default_factory=set)
    # Time slept for a quota is not held against the wall clock.
    slept_s: float = 0.0

    def go_on(self) -> ExitCode | None:
        """Play to the end; give the exit code of whatever stopped it before."""
        turns = self.check.turns
        interrupt = Interrupt()
        model = model_at(self.endpoint, interrupt)
        try:
            with (
                Bar(len(turns), len(self.kept.plays), self.environ) as bar,
                stop_on_signals(interrupt, bar.remark),
            ):
                self._announce(bar)
                examiner = Examiner(
                    model=model,
                    endpoint=self.endpoint,
                    settings=self.settings,
                    mask=self.mask,
                    interrupt=interrupt,
                    command_environ=self.environ,
                    hear=lambda event: self._hear(event, bar),
                )
                self._play_all(examiner, bar)
        except TrialHalted as halted:
            return self._stopped(halted)
        finally:
            model.close()
        return None

    def _announce(self, bar: Bar) -> None:
        check, done = self.check, len(self.kept.plays)
        times = f", {check.wanted.repeat} times each" if check.wanted.repeat > 1 else ""
        are = "verdict is" if done == 1 else "verdicts are"
        before = f"; {done} {are} there from before" if done else ""
        changes = f"{counted(len(check.asked), 'change')}{times}"
        bar.say(f"playing {changes} to {one_line(self.endpoint.model)}{before}")

    def _play_all(self, examiner: Examiner, bar: Bar) -> None:
        done = {(play.case, play.change, play.round) for play in self.kept.plays}
        broken: set[tuple[str, str]] = set()
        started = time.monotonic()
        for question, turn in self.check.turns:
            name = (question.case, question.change)
            if (*name, turn) in done or name in broken:
                continue
            worked_s = time.monotonic() - started - self.slept_s
            minutes = self.settings.max_wall_clock_minutes - worked_s / 60
            try:
                play = examiner.play(question, turn, self.kept.spend, max(minutes, 0.0))
            except BrokenCase as error:
                broken.add(name)
                bar.step(f"BROKEN: {self.check.broken(question, str(error))} (skipped)")
                continue
            self.kept.add(Entry(play=play))
            bar.step(pages.said(play), stays=play.mistake is not None)

    def _stopped(self, halted: TrialHalted) -> ExitCode:
        """Keep what the broken-off trial has cost, and say why it stopped."""
        if halted.spend.calls:
            self.kept.add(Entry(spend=halted.spend))
        done, of = len(self.kept.plays), len(self.check.turns)
        cap = CAP_SETTINGS.get(halted.reason)
        # The time is each start's own; what was spent stays spent.
        more = "" if halted.reason is StopReason.WALL_CLOCK else "; raise it"
        why = f"{cap} is used up{more}" if cap else one_line(halted.detail, 400)
        complain(f"stopped after {done} of {of}: {why}; the same command goes on from here")
        return exit_code(halted.reason)

    def _hear(self, event: Event, bar: Bar) -> None:
        bar.hear(event.payload)
        match event.payload:
            case QuotaWait(wait_s=seconds):
                self.slept_s += seconds
            case CapWarning(cap=cap) if cap not in self.warned:
                self.warned.add(cap)
                bar.say(f"warning: most of {CAP_SETTINGS[StopReason(cap)]} is used")


def _measurement(
    check: Check, settings: Settings, endpoint: Endpoint, plays: Sequence[Play], spent: Spend
) -> Measurement:
    """Sum a check up for the record."""
    return Measurement(
        ts=stamp(SystemClock().now()),
        model=endpoint.model,
        endpoint=endpoint.address,
        prompt_sha256=prompt_sha256(settings),
        suite=check.wanted.source,
        whole=check.is_whole,
        repeat=check.wanted.repeat,
        **dict(tally(plays)),
        cost_usd=spent.whole_cost_usd,
        seconds=round(sum(play.seconds for play in plays), 3),
        by_category={str(name): jsonable(each) for name, each in by_category(plays).items()},
        tilth_version=__version__,
    )


def _put(
    check: Check,
    plays: Sequence[Play],
    endpoint: Endpoint,
    spent: Spend,
    page: Page,
    *,
    as_json: bool,
) -> None:
    if as_json:
        page.json(pages.document(plays, spent))
        return
    notes = {(question.case, question.change): question.note for question in check.asked}
    evaluator = f"{endpoint.model} at {endpoint.address}"
    pages.show(page, plays, evaluator, spent, notes)

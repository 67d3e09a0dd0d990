"""The trial: one planted change put to the evaluator, prompted and read as in a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tilth.briefs import evaluator_message
from tilth.budget import Meter
from tilth.clock import Clock, stamp
from tilth.evalcheck.planted import Planted
from tilth.evalcheck.score import Play
from tilth.events import Event, Scope
from tilth.exchange.asking import ask
from tilth.exchange.review import read_verdict, review_conversation
from tilth.interrupt import Interrupt
from tilth.mask import Mask
from tilth.messages import Model
from tilth.payloads import EvaluatorParseError, Payload
from tilth.settings import Settings
from tilth.verdict import Judged, entry_of


@dataclass(frozen=True)
class Hearing:
    """Pass on what happens during a call; there is no session to write it into."""

    hear: Callable[[Payload], None]

    def __call__(self, payload: Payload) -> Event:
        self.hear(payload)
        return Event(0, "", "", Scope(), payload)

    def bind(
        self,
        *,
        task_id: str | None = None,
        iter: int | None = None,
        trace_id: str | None = None,
        span_id: str | None = None,
    ) -> Hearing:
        return self


@dataclass(frozen=True)
class Examiner:
    """Hold the evaluator under test and what its calls are charged to."""

    model: Model
    settings: Settings
    emit: Hearing
    clock: Clock
    mask: Mask
    interrupt: Interrupt
    new_id: Callable[[], str]
    started: float
    meter: Meter = field(default_factory=Meter)
    warned: set[str] = field(default_factory=set)

    def play(self, planted: Planted) -> Play:
        """Have one verdict on one change."""
        settings = self.settings
        view = planted.view(settings.eval_threshold, settings.context_files)
        conversation = review_conversation(
            self.mask.result(evaluator_message(view, self.new_id())),
            id=self.new_id(),
            model=self.model.name,
            max_tokens=settings.max_output_tokens,
        )
        unread: list[EvaluatorParseError] = []
        reading = read_verdict(
            conversation,
            lambda: ask(self, self.model, conversation, self.emit),
            settings.eval_threshold,
            unread.append,
        )
        play = Play(
            name=planted.name,
            category=planted.pair.category,
            is_right=planted.is_right,
            fault=None if planted.is_right else planted.pair.fault,
            model=reading.model,
            unread_answers=len(unread),
        )
        if reading.verdict is None:
            return play
        entry = entry_of(
            reading.verdict,
            self._judged(planted),
            model=reading.model,
            threshold=settings.eval_threshold,
        )
        return play.model_copy(
            update={
                "verdict": entry.verdict,
                "said_category": entry.rejection_category,
                "score": entry.score,
                "below_threshold": entry.below_threshold,
                "concern": entry.concern,
            }
        )

    def _judged(self, planted: Planted) -> Judged:
        return Judged(
            ts=stamp(self.clock.now()),
            task_id=planted.pair.task.id,
            iter=1,
            tree="",
            diff_sha256="",
            validators={},
        )

"""The trial: one planted change put to the evaluator, prompted and read as in a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tilth.base.clock import Clock, stamp
from tilth.base.interrupt import Interrupt
from tilth.config.secrets import Mask
from tilth.config.settings import Settings
from tilth.contract.verdict import Judged, entry_of
from tilth.evalcheck.planted import Planted
from tilth.evalcheck.score import Play
from tilth.log.events import EvaluatorParseError, Event, Payload, Scope
from tilth.log.state import SessionState, apply
from tilth.model.messages import Model
from tilth.task.asking import ask
from tilth.task.attempt import Review
from tilth.task.briefs import block_word, evaluator_message
from tilth.task.budget import Meter
from tilth.task.night import Night
from tilth.task.review import review_conversation
from tilth.task.review_turns import read_verdict


@dataclass
class Hearing:
    """Pass on what happens during a call; there is no session to write it into."""

    hear: Callable[[Payload], None]
    state: SessionState = field(default_factory=SessionState)

    def __call__(self, payload: Payload) -> Event:
        self.hear(payload)
        event = Event(self.state.events + 1, "", "", Scope(), payload)
        self.state = apply(self.state, event)
        return event

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
    warned: set[str] = field(default_factory=set)
    night: Night = field(default_factory=Night)

    @property
    def meter(self) -> Meter:
        return Meter(lambda: self.emit.state.spend)

    def play(self, planted: Planted) -> Play:
        """Have one verdict on one change."""
        settings = self.settings
        view = planted.view(settings.eval_threshold, settings.context_files)
        conversation = review_conversation(
            self.mask.result(evaluator_message(view, block_word(self.new_id()))),
            id=self.new_id(),
            model=self.model.name,
            max_tokens=settings.max_output_tokens,
        )
        unread: list[EvaluatorParseError] = []
        reading = read_verdict(
            Review(conversation),
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

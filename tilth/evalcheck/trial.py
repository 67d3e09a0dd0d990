"""The trial: one change put to the evaluator by the very path of a run.

A worker that hands in exactly this change takes the model's place; loop, gate, evidence, prompts,
tools and the reading of the verdict are those of every session. It runs in the sandbox, in a
directory that is thrown away, and writes nothing elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from tilth.base.errors import UserError, WorkspaceError
from tilth.base.interrupt import Interrupt
from tilth.base.safe_text import last_lines, one_line
from tilth.base.values import jsonable
from tilth.config.secrets import Mask
from tilth.config.settings import Endpoint, OnExhausted, Settings
from tilth.contract.case import SUBMIT_CASE
from tilth.contract.outcomes import StopReason
from tilth.evalcheck.cases import BrokenCase
from tilth.evalcheck.question import Layout, Question
from tilth.evalcheck.score import Play
from tilth.log.events import (
    CaseParseError,
    EvaluatorParseError,
    EvaluatorVerdict,
    Event,
    ValidatorRun,
)
from tilth.log.state import SessionState, fold
from tilth.log.task_state import TaskState
from tilth.model.messages import Conversation, Model, OnRetry, Role, Turn, Usage
from tilth.sandbox.removal import temporary_directory
from tilth.session.frontend import Frontend
from tilth.session.models import Models
from tilth.session.parts import Parts, open_parts
from tilth.session.run import run_session
from tilth.task.budget import Spend

# With one iteration and no bonus a verdict ends the session either way: accepted, or used up.
_JUDGED = frozenset({StopReason.ALL_DONE, StopReason.ITER_CAP})


class TrialHalted(Exception):
    """Say that something other than a verdict ended a trial, and what it had cost by then."""

    def __init__(self, reason: StopReason, detail: str, spend: Spend) -> None:
        self.reason = reason
        self.detail = detail
        self.spend = spend
        super().__init__(detail)


@dataclass(frozen=True)
class OneChange:
    """Be the worker that hands in one tree and does nothing else."""

    name: str
    endpoint: str
    hand_in: Callable[[], None]
    case: dict[str, object]

    def respond(self, conversation: Conversation, on_retry: OnRetry) -> Turn:
        """Put the tree into the worktree and submit it; it costs nothing."""
        self.hand_in()
        call = {"type": "tool_use", "id": "call_1", "name": SUBMIT_CASE.name, "input": self.case}
        return Turn(
            content=(call,),
            stop_reason="tool_use",
            usage=Usage(),
            model=self.name,
            latency_ms=0,
            cost_usd=0.0,
        )


@dataclass
class Heard:
    """Keep what the session of one trial records, as far as it says how the trial went."""

    hear: Callable[[Event], None]
    events: list[Event] = field(default_factory=list)

    def take(self, event: Event) -> None:
        self.events.append(event)
        self.hear(event)

    @property
    def spend(self) -> Spend:
        """Sum up what the evaluator's calls have cost."""
        return fold(self.events).spend.get(Role.EVALUATOR, Spend())

    @property
    def verdict(self) -> EvaluatorVerdict | None:
        """Give the evaluator's verdict; an entry that no evaluator was asked for is none."""
        said = [event.payload for event in self.events]
        ruled = [each for each in said if isinstance(each, EvaluatorVerdict)]
        judged = [each for each in ruled if each.source == "evaluator" or each.parse_failed]
        return judged[-1] if judged else None

    @property
    def unreadable(self) -> tuple[str, ...]:
        said = (event.payload for event in self.events)
        return tuple(one.error for one in said if isinstance(one, EvaluatorParseError))

    def why_unjudged(self) -> str:
        """Say why no evaluator was asked."""
        for event in reversed(self.events):
            match event.payload:
                case EvaluatorVerdict(concern=concern):
                    return f"it was refused without an evaluator: {one_line(concern)}"
                case CaseParseError(error=error):
                    return f"its case could not be read: {one_line(error)}"
                case ValidatorRun(phase="case", passed=False, name=name, output=output):
                    return f"{name} fails on it: {' '.join(last_lines(output, 1))}"
        return "it was not judged"


@dataclass(frozen=True)
class Examiner:
    """Hold the evaluator under test and the limits it is tested within."""

    model: Model
    endpoint: Endpoint
    settings: Settings
    mask: Mask
    interrupt: Interrupt
    command_environ: Mapping[str, str]
    hear: Callable[[Event], None]
    now: Callable[[], float] = time.monotonic

    def play(self, question: Question, turn: int, spent: Spend, minutes_left: float) -> Play:
        """Have one verdict on one change, or raise Halted or BrokenCase."""
        started, heard = self.now(), Heard(self.hear)
        with temporary_directory("tilth-eval-") as root:
            try:
                layout = question.lay_out(root, self.mask)
            except (UserError, WorkspaceError) as error:
                raise BrokenCase(f"{question.change}: {one_line(str(error))}") from error
            self._run(layout, root, heard, spent, minutes_left)
        verdict = heard.verdict
        if verdict is None:
            raise BrokenCase(f"{question.change}: {heard.why_unjudged()}")
        return _play(question, turn, verdict, heard, self.now() - started)

    def _run(
        self, layout: Layout, root: Path, heard: Heard, spent: Spend, minutes_left: float
    ) -> None:
        settings = self._settings(layout, root, minutes_left)
        frontend = Frontend(sinks=(heard,), interrupt=self.interrupt)
        environ = self.command_environ
        with open_parts(
            settings, layout.source, layout.facts, frontend, command_environ=environ
        ) as parts:
            parts = replace(
                parts,
                mask=self.mask,
                open_models=lambda parts: nullcontext(self._models(parts, layout)),
                also_hidden=(self.settings.sessions_dir,),
            )
            ending = run_session(parts, layout.session, _memory(layout, spent))
        if ending.reason not in _JUDGED:
            raise TrialHalted(ending.reason, ending.detail, heard.spend)

    def _models(self, parts: Parts, layout: Layout) -> Models:
        workspace = parts.workspace(layout.session)

        def hand_in() -> None:
            workspace.restore(layout.tree(workspace.tip() or ""))

        worker = OneChange(self.model.name, "nowhere", hand_in, jsonable(layout.case))
        return Models(worker, lambda task: self.model)

    def _settings(self, layout: Layout, root: Path, minutes_left: float) -> Settings:
        """Give the user's settings, for a session that ends with its first verdict."""
        return self.settings.under(layout.facts).model_copy(
            update={
                "sessions_dir": root / "sessions",
                "worker_model": self.endpoint.model,
                "api_key": self.endpoint.api_key,
                "base_url": self.endpoint.base_url,
                "evaluator_model": self.endpoint.model,
                "evaluator_api_key": self.endpoint.api_key,
                "evaluator_base_url": self.endpoint.base_url,
                "max_iterations_per_task": 1,
                "iteration_bonus_per_rejection": 0,
                "max_evaluator_calls_per_task": 0,
                "max_wall_clock_minutes": minutes_left,
                "evaluate": True,
                "fail_open_on_unparsed": False,
                "jobs": 1,
                "on_exhausted": OnExhausted.HALT,
            }
        )


def _memory(layout: Layout, spent: Spend) -> SessionState:
    """Begin with what earlier trials have cost, so that the caps hold over all of them."""
    outside = TaskState(spend={Role.EVALUATOR: spent})
    return SessionState(outside=outside, words=layout.notes)


def _play(
    question: Question, turn: int, verdict: EvaluatorVerdict, heard: Heard, seconds: float
) -> Play:
    read = None if verdict.parse_failed else verdict
    return Play(
        case=question.case,
        change=question.change,
        category=question.category,
        is_right=question.is_right,
        round=turn,
        verdict=read.verdict if read else None,
        rejection_category=read.rejection_category if read else None,
        score=read.score if read else None,
        below_threshold=verdict.below_threshold,
        concern=read.concern if read else "",
        proof=read.proof if read else None,
        unreadable=heard.unreadable,
        model=verdict.model or "",
        spend=heard.spend,
        seconds=round(seconds, 3),
    )

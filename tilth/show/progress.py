"""The progress: where a run stands right now, as told by the events so far.

Holds what the line of one event needs from the events before it. Decides nothing and shows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilth.base.safe_text import one_line
from tilth.contract.case import CONTROL_TOOLS
from tilth.contract.prd import Plan
from tilth.log.events import (
    CaseSubmitted,
    Committed,
    ContextReset,
    EvaluatorVerdict,
    Event,
    LandingRefused,
    MemoryLoad,
    ModelCall,
    ModelRetry,
    Payload,
    PreToolBlock,
    PromptAssembled,
    QuotaWait,
    Stop,
    TaskDone,
    TaskFailed,
    ToolCalled,
    ToolResulted,
    ValidatorRun,
)
from tilth.log.state import SessionState, apply
from tilth.log.task_state import TaskState
from tilth.model.messages import Role
from tilth.show import figures
from tilth.show.times import clock_time
from tilth.task.budget import Allowance, Caps

GETTING_READY = "getting ready"
WAITING_FOR_WORKER = "waiting for the worker"
WAITING_TO_LAND = "accepted, waits for its turn to land"
STOPPED = "stopped"

# Work on a task shows itself by one of these; a late word on another task does not turn to it.
_OPENERS = (ContextReset, MemoryLoad, PromptAssembled, ModelCall, ValidatorRun)
_SHOWN_ARGUMENTS = ("command", "pattern", "path")
_CALL_LIMIT = 120


@dataclass(frozen=True, slots=True)
class ConsoleContext:
    """Say what the events do not: the plan, the limits, and where the session's files are.

    With `advises`, the last screen says what to type next.
    """

    plan: Plan | None = None
    caps: Caps | None = None
    allowance: Allowance | None = None
    directory: str | None = None
    advises: bool = True


class Progress:
    """Follow a run event by event; a new one knows of nothing yet."""

    def __init__(
        self, context: ConsoleContext | None = None, state: SessionState | None = None
    ) -> None:
        self.context = context or ConsoleContext()
        self.state = state or SessionState()
        self.task_id: str | None = None
        self.task_opened = False
        self.iteration = 0
        self.started_over = False
        self.doing = GETTING_READY
        # How long a quota wait lasts from when it was said, while one does.
        self.wait_s: float | None = None
        # The call a result answers; empty for one that was blocked, None where it is not known.
        self.answered: str | None = None
        self.unpriced: str | None = None
        # With several jobs: what goes on in each lane.
        self.lanes: dict[str, str] = {}
        self._announced: set[str] = set()
        self._calls: dict[str, str] = {}
        self._said_unpriced: set[str] = set()

    def take(self, event: Event) -> None:
        """Take in one event before it is told."""
        self.state = apply(self.state, event)
        payload, task_id = event.payload, event.task_id
        if isinstance(payload, PromptAssembled) and payload.second:
            # Work turns to no task: one that is done is only looked at once more.
            self.task_id, self.iteration = task_id, 0
        if self.state.laned:
            self._turn_to(task_id, payload)
        else:
            self.task_opened = task_id not in (None, self.task_id) and isinstance(payload, _OPENERS)
        if self.task_opened:
            self.task_id, self.iteration, self.doing = task_id, 0, GETTING_READY
        self.started_over = isinstance(payload, ContextReset) and self.iteration > 0
        if self.started_over:
            self.iteration = 0
        self.unpriced = None
        if isinstance(payload, ModelCall):
            self._hear(payload, event.scope.iter)
        elif isinstance(payload, ToolCalled):
            self._calls[payload.call_id] = describe_call(payload.name, payload.arguments)
        elif isinstance(payload, PreToolBlock):
            # The block has been told; its result would only say so again.
            self._calls[payload.call_id] = ""
        elif isinstance(payload, ToolResulted):
            self.answered = self._calls.pop(payload.call_id, payload.name)
        doing = doing_after(payload)
        if doing is not None:
            self.doing = doing
            self.wait_s = payload.wait_s if isinstance(payload, QuotaWait) else None
        if self.state.laned and task_id is not None:
            self._follow_lane(task_id, payload, doing)

    def _turn_to(self, task_id: str | None, payload: Payload) -> None:
        """Have each event be about its own task, and announce a task once."""
        self.task_opened = task_id not in (None, *self._announced) and isinstance(payload, _OPENERS)
        if task_id is not None:
            self.task_id, self.iteration = task_id, self.state.task(task_id).attempt.iterations
        if self.task_opened and task_id is not None:
            self._announced.add(task_id)

    def _follow_lane(self, task_id: str, payload: Payload, doing: str | None) -> None:
        if isinstance(payload, TaskDone | TaskFailed):
            self.lanes.pop(task_id, None)
        elif isinstance(payload, EvaluatorVerdict) and payload.accepted:
            self.lanes[task_id] = WAITING_TO_LAND
        elif doing is not None and not isinstance(payload, Committed):
            self.lanes[task_id] = doing

    def _hear(self, call: ModelCall, iteration: int | None) -> None:
        if call.role is Role.WORKER:
            self.iteration = self.task.attempt.iterations if iteration is None else iteration
        if call.cost_usd is None and call.model not in self._said_unpriced:
            self._said_unpriced.add(call.model)
            self.unpriced = call.model

    @property
    def task(self) -> TaskState:
        """Give the task at hand."""
        return self.state.task(self.task_id)

    @property
    def title(self) -> str:
        task = self.context.plan.task(self.task_id) if self.context.plan and self.task_id else None
        return task.title if task else ""

    @property
    def position(self) -> str:
        """Say which task of the plan this is, as 2/5."""
        ids = [task.id for task in self.context.plan.tasks] if self.context.plan else []
        return f"{ids.index(self.task_id) + 1}/{len(ids)}" if self.task_id in ids else ""

    @property
    def iteration_mark(self) -> str:
        """Say which iteration this is and how many the task may have, as 3/32."""
        return self.mark_of(self.task_id, self.iteration)

    def mark_of(self, task_id: str | None, iteration: int | None = None) -> str:
        """Say which iteration a task is in and how many it may have, as 3/32."""
        allowance, attempt = self.context.allowance, self.state.task(task_id).attempt
        iteration = attempt.iterations if iteration is None else iteration
        if allowance is None or task_id is None:
            return str(iteration)
        total = allowance.after(attempt.rejections).total
        return f"{iteration:>{len(str(total))}}/{total}"

    @property
    def tally(self) -> str:
        """Say how many tasks are done and how many are to go."""
        tasks = self.context.plan.tasks if self.context.plan else ()
        done = sum(self.state.task(task.id).done is not None for task in tasks)
        return f"{done} done, {len(tasks) - done} to go" if tasks else ""

    def time(self, elapsed: str) -> str:
        """Say how much of the time for this start has passed."""
        caps = self.context.caps
        return f"{elapsed} of {figures.clock(caps.wall_clock_s)}" if caps else elapsed

    @property
    def tokens(self) -> str:
        """Say what is spent of the token cap."""
        used, caps = figures.count(self.state.spent.usage.counted), self.context.caps
        return f"{used}/{figures.count(caps.tokens)} tokens" if caps else f"{used} tokens"

    @property
    def cost(self) -> str:
        """Say what is spent of the cost cap."""
        used, caps = figures.cost(self.state.spent), self.context.caps
        said = f"cost {used}" if used == "unknown" else used
        return f"{said} of ${caps.cost_usd:g}" if caps else said


def doing_after(payload: Payload) -> str | None:
    """Say what goes on once this has happened; None if it changes nothing."""
    match payload:
        case PromptAssembled(role=Role.EVALUATOR):
            return "another reviewer" if payload.second else "evaluator"
        case PromptAssembled():
            return f"waiting for the {payload.role}"
        case ToolCalled(name="submit_case") | CaseSubmitted():
            return "validators"
        case ToolCalled(name="raise_blocker"):
            return "evaluator: ruling on a blocker"
        case ToolCalled():
            return describe_call(payload.name, payload.arguments)
        case ValidatorRun(phase="base"):
            return "validators before the work"
        case ValidatorRun(phase="landing"):
            return "landing"
        case EvaluatorVerdict() if payload.accepted:
            return "committing"
        case QuotaWait():
            return f"quota: waits until {clock_time(payload.until)}"
        case ModelRetry():
            return f"endpoint: again in {figures.delay(payload.delay_s)}"
        case ModelCall(role=Role.WORKER) | ToolResulted() | EvaluatorVerdict() | LandingRefused():
            return WAITING_FOR_WORKER
        case Committed():
            return "picking the next task"
        case Stop():
            return STOPPED
    return None


def describe_call(name: str, arguments: Any) -> str:
    """Name a tool call by the argument that tells most."""
    if name in CONTROL_TOOLS or not isinstance(arguments, dict):
        return one_line(name, _CALL_LIMIT)
    shown = next((arguments[key] for key in _SHOWN_ARGUMENTS if key in arguments), None)
    if not isinstance(shown, str) or not shown.strip():
        return one_line(name, _CALL_LIMIT)
    # Several commands in one call stay recognisable as several.
    text = one_line(shown.strip().replace("\n", " ⏎ "), _CALL_LIMIT)
    return f"{one_line(name, 40)}: {text}"

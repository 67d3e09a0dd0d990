"""Spans and measurements: what the log says, in OpenTelemetry's words. Pure.

A session is one trace, each of its starts a root in it, below it the tasks, below them model calls,
tool calls and validators, named by the semantic conventions for generative AI. An id is made from
what it stands for, so a child knows its parent's before the parent has ended, and a resume goes on
in the same trace. Texts of models, tools and people are left out unless they are asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tilth.contract.outcomes import ExitCode
from tilth.log import events as ev
from tilth.log.events import Event
from tilth.log.genai_messages import answer, instructions, messages
from tilth.log.state import SessionState
from tilth.log.task_state import TaskOutcome, TaskState
from tilth.model.messages import Role

Attribute = str | int | float | bool | tuple[str, ...]
Attributes = Mapping[str, Attribute]

_PROVIDER = "anthropic"  # whose API is spoken, whoever answers
_MOST_CHARS = 256_000
_NO_FAULT = frozenset({ExitCode.DONE, ExitCode.BELOW_BAR, ExitCode.CAP, ExitCode.WAITING})


@dataclass(frozen=True)
class Moment:
    """Hold one thing that happened at a moment within a span."""

    name: str
    at_ns: int
    attributes: Attributes


@dataclass(frozen=True)
class Span:
    """Hold one piece of work with its beginning and end; `error` says what it failed of."""

    name: str
    trace_id: int
    span_id: int
    parent_id: int | None
    start_ns: int
    end_ns: int
    attributes: Attributes
    error: str | None = None
    is_call: bool = False
    moments: tuple[Moment, ...] = ()


@dataclass(frozen=True)
class Point:
    """Hold one measurement; its name says which instrument it belongs to."""

    name: str
    value: float
    attributes: Attributes = field(default_factory=dict)


def spans_of(event: Event, state: SessionState, *, content: bool = False) -> Iterator[Span]:
    """Give the spans that end with an event; `state` is the session's right after it."""
    make = _Trace(event, state, content)
    match event.payload:
        case ev.ModelCall() as call:
            yield make.call(call)
        case ev.PromptAssembled() as prompt if content:
            yield make.prompt(prompt)
        case ev.ToolResulted() | ev.EvaluatorTool() as result:
            yield make.tool(result)
        case ev.ValidatorRun() as run:
            yield make.validator(run)
        case ev.TaskDone() | ev.TaskFailed() if event.task_id is not None:
            yield make.task(state.task(event.task_id))
        case ev.Stop() as stop:
            yield from (make.task(task) for task in state.open_tasks)
            yield make.root(stop)


def points_of(event: Event) -> Iterator[Point]:
    """Give what an event adds to the measurements."""
    match event.payload:
        case ev.ModelCall() as call:
            about = _call_attributes(call)
            usage = call.usage
            for kind, tokens in (("input", usage.sent), ("output", usage.output_tokens)):
                told = {**about, "gen_ai.token.type": kind}
                yield Point("gen_ai.client.token.usage", tokens, told)
            yield Point("gen_ai.client.operation.duration", call.latency_ms / 1000, about)
            if call.cost_usd is not None:
                yield Point("tilth.cost", call.cost_usd, about)
        case ev.ModelRetry(role=role):
            yield Point("tilth.retries", 1, {"gen_ai.agent.name": str(role)})
        case ev.TaskDone():
            yield Point("tilth.tasks", 1, {"tilth.task.outcome": str(TaskOutcome.DONE)})
        case ev.TaskFailed(reason=reason):
            failed = {"tilth.task.outcome": str(TaskOutcome.FAILED), "error.type": str(reason)}
            yield Point("tilth.tasks", 1, failed)
        case ev.EvaluatorVerdict() as verdict:
            about = _given(_verdict_attributes(verdict))
            about.pop("gen_ai.evaluation.score.value", None)
            yield Point("tilth.verdicts", 1, about)


@dataclass(frozen=True)
class _Trace:
    """Make the spans of one event."""

    event: Event
    state: SessionState
    content: bool

    def call(self, call: ev.ModelCall) -> Span:
        usage = call.usage
        return self._below(
            f"chat {call.model}",
            call.latency_ms,
            {
                **_call_attributes(call),
                "gen_ai.conversation.id": call.conversation,
                "gen_ai.response.id": call.request_id,
                "gen_ai.response.finish_reasons": (call.stop_reason,) if call.stop_reason else (),
                "gen_ai.usage.input_tokens": usage.sent,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
                "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
                "tilth.cost_usd": call.cost_usd,
                "gen_ai.output.messages": self._asked(
                    lambda: answer(call.content, call.stop_reason)
                ),
            },
            is_call=True,
        )

    def prompt(self, prompt: ev.PromptAssembled) -> Span:
        return self._below(
            f"assemble_prompt {prompt.role}",
            0,
            {
                "gen_ai.agent.name": str(prompt.role),
                "gen_ai.conversation.id": prompt.conversation,
                "gen_ai.system_instructions": self._asked(
                    lambda: instructions(prompt.head.get("system"))
                ),
                "gen_ai.input.messages": self._asked(lambda: messages(prompt.messages)),
            },
        )

    def tool(self, result: ev.ToolResulted | ev.EvaluatorTool) -> Span:
        code = result.exit_code if isinstance(result, ev.ToolResulted) else None
        role = Role.WORKER if isinstance(result, ev.ToolResulted) else Role.EVALUATOR
        return self._below(
            f"execute_tool {result.name}",
            result.duration_ms,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": result.name,
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": result.call_id,
                "gen_ai.agent.name": str(role),
                "gen_ai.conversation.id": result.conversation,
                "process.exit.code": code,
                "gen_ai.tool.call.result": self._asked(lambda: result.content),
            },
            error="tool_error" if result.is_error else None,
        )

    def validator(self, run: ev.ValidatorRun) -> Span:
        counts = {f"tilth.tests.{kind}": number for kind, number in (run.tests or {}).items()}
        return self._below(
            f"validate {run.name}",
            run.duration_ms,
            {"tilth.validator.name": run.name, "tilth.validator.phase": run.phase, **counts},
            error=None if run.passed or run.phase == "base" else "validator_failed",
        )

    def task(self, task: TaskState) -> Span:
        attempt, spent = task.attempt, task.spent
        began = max(_nanoseconds(attempt.began or self.event.ts), self._started_ns)
        conversation = attempt.conversation
        return self._span(
            f"invoke_agent {task.id}",
            self._task_id(task),
            self._root_id,
            began,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": str(Role.WORKER),
                "gen_ai.agent.id": attempt.reset.agent if attempt.reset else None,
                "gen_ai.conversation.id": conversation,
                "tilth.task.id": task.id,
                "tilth.task.outcome": str(task.outcome),
                "tilth.task.attempt": len(task.attempts),
                "tilth.task.iterations": attempt.iterations,
                "tilth.task.score": task.score,
                "tilth.commit": task.landed,
                "tilth.tokens": spent.usage.counted,
                "tilth.cost_usd": spent.cost_usd,
            },
            error=str(task.reason) if task.reason else None,
            moments=tuple(self._verdicts(task, began)),
        )

    def root(self, stop: ev.Stop) -> Span:
        spent = self.state.spent
        start = self.state.start
        return self._span(
            "invoke_workflow tilth",
            self._root_id,
            None,
            self._started_ns,
            {
                "gen_ai.operation.name": "invoke_workflow",
                "gen_ai.workflow.name": "tilth",
                "tilth.session": self.event.session,
                "tilth.start": len(self.state.starts),
                "tilth.branch": start.branch if start else None,
                "tilth.base_commit": start.base_commit if start else None,
                "tilth.tasks": start.tasks if start else None,
                "tilth.stop.reason": str(stop.reason),
                "tilth.exit_code": stop.exit_code,
                "tilth.tokens": spent.usage.counted,
                "tilth.cost_usd": spent.cost_usd,
            },
            error=None if stop.exit_code in _NO_FAULT else str(stop.reason),
        )

    def _verdicts(self, task: TaskState, since_ns: int) -> Iterator[Moment]:
        for event in task.verdict_events:
            at, said = _nanoseconds(event.ts), event.payload
            if isinstance(said, ev.EvaluatorVerdict) and at >= since_ns:
                about = _verdict_attributes(said)
                if self.content:
                    about["gen_ai.evaluation.explanation"] = said.concern
                yield Moment("gen_ai.evaluation.result", at, _given(about))

    def _below(
        self,
        name: str,
        lasted_ms: int,
        attributes: Mapping[str, Attribute | None],
        *,
        error: str | None = None,
        is_call: bool = False,
    ) -> Span:
        """Make a span below its task, or below the start where it belongs to none."""
        task_id = self.event.task_id
        parent = self._root_id if task_id is None else self._task_id(self.state.task(task_id))
        about = {**attributes, "tilth.task.id": task_id, "tilth.seq": self.event.seq}
        start = self._now_ns - lasted_ms * 1_000_000
        span_id = self._id(f"event:{self.event.seq}")
        return self._span(name, span_id, parent, start, about, error=error, is_call=is_call)

    def _span(
        self,
        name: str,
        span_id: int,
        parent_id: int | None,
        start_ns: int,
        attributes: Mapping[str, Attribute | None],
        *,
        error: str | None = None,
        is_call: bool = False,
        moments: tuple[Moment, ...] = (),
    ) -> Span:
        return Span(
            name=name,
            trace_id=_number(f"trace:{self.event.session}", 16),
            span_id=span_id,
            parent_id=parent_id,
            start_ns=min(start_ns, self._now_ns),
            end_ns=self._now_ns,
            attributes=_given({**attributes, "error.type": error}),
            error=error,
            is_call=is_call,
            moments=moments,
        )

    @property
    def _now_ns(self) -> int:
        return _nanoseconds(self.event.ts)

    @property
    def _started_ns(self) -> int:
        starts = self.state.starts
        return _nanoseconds(starts[-1].ts if starts else self.event.ts)

    @property
    def _root_id(self) -> int:
        return self._id(f"start:{len(self.state.starts)}")

    def _task_id(self, task: TaskState) -> int:
        return self._id(f"task:{task.id}:{task.attempt.seq}:{len(self.state.starts)}")

    def _id(self, label: str) -> int:
        return _number(f"{self.event.session}:{label}", 8)

    def _asked(self, write: Callable[[], str]) -> str | None:
        """Give a text where texts are asked for."""
        return write()[:_MOST_CHARS] if self.content else None


def _call_attributes(call: ev.ModelCall) -> dict[str, Attribute]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDER,
        "gen_ai.request.model": call.model,
        "gen_ai.response.model": call.model,
        "gen_ai.agent.name": str(call.role),
    }


def _verdict_attributes(verdict: ev.EvaluatorVerdict) -> dict[str, Attribute | None]:
    category = verdict.rejection_category
    return {
        "gen_ai.evaluation.name": "verdict",
        "gen_ai.evaluation.score.label": str(verdict.verdict),
        "gen_ai.evaluation.score.value": verdict.score,
        "tilth.rejection_category": str(category) if category else None,
    }


def _given(attributes: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    return {name: value for name, value in attributes.items() if value is not None and value != ()}


def _number(label: str, length: int) -> int:
    return int.from_bytes(hashlib.sha256(label.encode()).digest()[:length]) or 1


def _nanoseconds(ts: str) -> int:
    return round(datetime.fromisoformat(ts).timestamp() * 1000) * 1_000_000

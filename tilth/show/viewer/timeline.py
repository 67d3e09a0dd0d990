"""The timeline: who worked when on which task, and what had been spent by then.

It takes moments and lengths from events as they come and keeps them merged, so that a night of any
length stays small. It counts no money itself: what was spent is the state's word.
"""

from __future__ import annotations

from typing import Any

from tilth.log.events import (
    ChallengeMade,
    EvaluatorTool,
    Event,
    ModelCall,
    ModelRetry,
    MutantsTried,
    Payload,
    ProbeRun,
    QuotaWait,
    ToolResulted,
    ValidatorRun,
)
from tilth.log.state import SessionState
from tilth.model.messages import Role
from tilth.show.viewer.rows import milliseconds

# Two spans closer than this are one; the page cannot draw more parts of a night than this.
_GAP_MS = 1000
_PARTS = 1000
_POINTS = 300

Span = tuple[int, int]


class Timeline:
    """Gather the spans of a session and the points of its spend."""

    def __init__(self) -> None:
        self._spans: dict[str, dict[str, list[Span]]] = {}
        self._points: list[tuple[int, float, int]] = []
        self._spent: dict[str, tuple[float, int]] = {}
        self._calls = 0
        self._last = ""
        self._priced = True
        self._first = ""
        self._newest = ""

    @property
    def start(self) -> int:
        return milliseconds(self._first)

    @property
    def end(self) -> int:
        return milliseconds(self._newest)

    def take(self, event: Event, state: SessionState) -> None:
        """Take in one event and the state after it."""
        self._first = self._first or event.ts
        self._newest = event.ts
        length = _length(event.payload)
        # Most events are no work of anybody's, and there may be very many.
        if length is None:
            return
        kind, took, takes = length
        at = milliseconds(event.ts)
        if event.task_id is not None:
            kinds = self._spans.setdefault(event.task_id, {})
            _join(kinds.setdefault(kind, []), (at - took, at + takes))
        if isinstance(event.payload, ModelCall):
            self._count(event.payload, event.task_id or "", at, state)

    def _count(self, call: ModelCall, task: str, at: int, state: SessionState) -> None:
        self._calls += 1
        before = self._last
        self._priced = self._priced and call.cost_usd is not None
        # The longer the night, the fewer of its calls make a point; the last is added when read.
        if task == before and self._calls % (1 + len(self._points) // _POINTS):
            return
        for each in {task, before} if self._calls > 1 else {task}:
            spent = (state.task(each) if each else state.outside).spent
            self._spent[each] = spent.cost_usd, spent.usage.counted
        self._last = task
        usd = sum(each[0] for each in self._spent.values())
        self._points.append((at, usd, sum(each[1] for each in self._spent.values())))

    def rows(self) -> list[dict[str, Any]]:
        """Give the spans task by task, those too close to be told apart as one."""
        gap = max(_GAP_MS, (self.end - self.start) // _PARTS)
        return [
            {
                "task": task,
                "spans": [
                    [kind, *span] for kind, spans in kinds.items() for span in _merged(spans, gap)
                ],
            }
            for task, kinds in self._spans.items()
        ]

    def spend(self, state: SessionState) -> dict[str, Any]:
        """Give what had been spent when, in dollars if every price is known."""
        spent = state.spent
        step = 1 + len(self._points) // _POINTS
        points = [[at, usd if self._priced else tokens] for at, usd, tokens in self._points[::step]]
        last = spent.cost_usd if self._priced else spent.usage.counted
        if points:
            points.append([max(self.end, points[-1][0]), last])
        return {"points": points, "in_dollars": self._priced}


def _length(payload: Payload) -> tuple[str, int, int] | None:
    """Say whose time an event tells of, how long it took, and how long it takes from there on."""
    match payload:
        case ModelCall(role=role, latency_ms=took):
            return "evaluator" if role is Role.EVALUATOR else "worker", took, 0
        case ToolResulted(duration_ms=took) if took:
            return "worker", took, 0
        case ValidatorRun(duration_ms=took) | ProbeRun(duration_ms=took):
            return "gate", took, 0
        case MutantsTried(duration_ms=took) | ChallengeMade(duration_ms=took):
            return "gate", took, 0
        case EvaluatorTool(duration_ms=took):
            return "evaluator", took, 0
        case ModelRetry(delay_s=wait) | QuotaWait(wait_s=wait):
            return "waiting", 0, round(wait * 1000)
    return None


def _join(spans: list[Span], new: Span) -> None:
    """Add one more span at the end, as a part of the last one if it is close."""
    if spans and new[0] - spans[-1][1] <= _GAP_MS:
        since, until = spans[-1]
        spans[-1] = min(since, new[0]), max(until, new[1])
    else:
        spans.append(new)


def _merged(spans: list[Span], gap: int) -> list[Span]:
    found: list[Span] = []
    for since, until in spans:
        if found and since - found[-1][1] <= gap:
            found[-1] = found[-1][0], max(found[-1][1], until)
        else:
            found.append((since, until))
    return found

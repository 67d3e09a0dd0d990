"""The timeline: who worked when on which task, and what had been spent by then.

It takes moments and lengths from events as they come and keeps them merged, so that a night of any
length stays small. It counts no money itself: what was spent is the state's word.
"""

from __future__ import annotations

from typing import Any

from tilth.log.events import Event, ModelCall, ModelRetry, ToolResulted, ValidatorRun
from tilth.log.state import SessionState
from tilth.model.messages import Role
from tilth.show.viewer.rows import milliseconds

# Two spans closer than this are one; the page cannot draw more parts of a night than this.
_GAP_MS = 1000
_PARTS = 1000
_POINTS = 300

# Kinds whose length is read by name, and all that take time.
_NAMED = {
    "mutants": "gate",
    "probe_run": "gate",
    "evaluator_tool": "evaluator",
    "quota_wait": "waiting",
}
_TIMED = frozenset({*_NAMED, "model_call", "model_retry", "tool_result", "validator_run"})

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
        # Most events are no work of anybody's, and there may be very many.
        if event.type not in _TIMED:
            return
        at = milliseconds(event.ts)
        span = _span(event, at)
        if span is not None and event.task_id is not None:
            kind, since, until = span
            kinds = self._spans.setdefault(event.task_id, {})
            _join(kinds.setdefault(kind, []), (since, until))
        if isinstance(event.payload, ModelCall):
            self._count(event, at, state)

    def _count(self, event: Event, at: int, state: SessionState) -> None:
        self._calls += 1
        task, before = event.task_id or "", self._last
        call = event.payload
        self._priced = self._priced and getattr(call, "cost_usd", None) is not None
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


def _span(event: Event, at: int) -> tuple[str, int, int] | None:
    match event.payload:
        case ModelCall(role=role, latency_ms=took):
            return "evaluator" if role is Role.EVALUATOR else "worker", at - took, at
        case ToolResulted(duration_ms=took) if took:
            return "worker", at - took, at
        case ValidatorRun(duration_ms=took):
            return "gate", at - took, at
        case ModelRetry(delay_s=delay):
            return "waiting", at, at + round(delay * 1000)
    return _span_by_name(event, at)


def _span_by_name(event: Event, at: int) -> tuple[str, int, int] | None:
    """Read the length of kinds that say it, whatever version wrote them."""
    kind = _NAMED.get(event.type)
    if kind is None:
        return None
    said = event.payload.to_data()
    took = said.get("duration_ms") or 0
    wait = said.get("wait_s") or said.get("delay_s") or 0
    if not isinstance(took, int | float) or not isinstance(wait, int | float):
        return None
    return kind, at - round(took), at + round(wait * 1000)


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

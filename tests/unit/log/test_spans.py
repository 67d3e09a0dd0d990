"""Spans and measurements of a log: one trace, parents that are known, no texts unless asked."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable

import pytest
from support.event_samples import SAMPLES, Tape, a_session, session_start, stop

from tilth.contract.outcomes import StopReason
from tilth.log.events import Event
from tilth.log.spans import Span, points_of, spans_of
from tilth.log.state import SessionState, apply

SECRETS = ("concern", "content", "output", "text", "summary")


def all_spans(events: Iterable[Event], *, content: bool = False) -> list[Span]:
    """Give the spans of a whole log."""
    state, found = SessionState(), []
    for event in events:
        state = apply(state, event)
        found += spans_of(event, state, content=content)
    return found


def named(spans: list[Span], start: str) -> list[Span]:
    return [span for span in spans if span.name.startswith(start)]


def test_a_session_has_one_root_and_a_span_for_each_task() -> None:
    spans = all_spans(a_session())
    (root,) = [span for span in spans if span.parent_id is None]
    assert root.name == "invoke_workflow tilth"
    assert root.error == "iter_cap"
    tasks = named(spans, "invoke_agent")
    assert [(task.name, task.error) for task in tasks] == [
        ("invoke_agent T-001", None),
        ("invoke_agent T-002", "iter_cap"),
    ]
    assert {task.parent_id for task in tasks} == {root.span_id}
    known = {root.span_id, *(task.span_id for task in tasks)}
    assert {span.parent_id for span in spans} - {None} <= known
    assert len({span.span_id for span in spans}) == len(spans)


def test_a_resume_goes_on_in_the_same_trace_below_a_root_of_its_own() -> None:
    tape = Tape()
    reset = tape.event(session_start(), None), tape.event(SAMPLES["context_reset"])
    first = [*reset, tape.event(SAMPLES["model_call"])]
    first.append(tape.event(stop(StopReason.INTERRUPTED, 130, ""), None))
    again = [tape.event(SAMPLES["session_resume"], None), tape.event(SAMPLES["model_call"])]
    again += [tape.event(SAMPLES["task_done"]), tape.event(stop(StopReason.ALL_DONE, 0, ""), None)]
    spans = all_spans([*first, *again])
    assert len({span.trace_id for span in spans}) == 1
    before, after = (span for span in spans if span.parent_id is None)
    assert before.span_id != after.span_id
    assert (before.error, after.error) == ("interrupted", None)
    open_one, done = named(spans, "invoke_agent")
    assert (open_one.parent_id, done.parent_id) == (before.span_id, after.span_id)
    assert open_one.attributes["tilth.task.outcome"] == "open"
    assert done.attributes["tilth.task.outcome"] == "done"
    assert done.start_ns == after.start_ns
    assert [call.parent_id for call in named(spans, "chat")] == [open_one.span_id, done.span_id]


def test_a_call_without_a_known_price_adds_nothing_to_the_cost() -> None:
    call = SAMPLES["model_call"].model_copy(update={"cost_usd": None})
    names = [point.name for point in points_of(Tape().event(call))]
    assert "tilth.cost" not in names
    assert names.count("gen_ai.client.token.usage") == 2


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_every_event_can_be_told_at_any_moment(name: str) -> None:
    event = Tape().event(SAMPLES[name])
    state = apply(SessionState(), event)
    for span in spans_of(event, state, content=True):
        assert span.start_ns <= span.end_ns
        assert all(type(value) in (str, int, float, bool, tuple) for value in attributes(span))
    assert all(point.value >= 0 for point in points_of(event))


def attributes(span: Span) -> list[object]:
    return [*span.attributes.values(), *(v for m in span.moments for v in m.attributes.values())]


def test_no_text_of_a_model_a_tool_or_a_person_is_told_unless_it_is_asked_for() -> None:
    events = [*a_session(), *(Tape().event(payload) for payload in SAMPLES.values())]
    texts = {
        text
        for event in events
        for key, text in event.payload.to_data().items()
        if key in SECRETS and isinstance(text, str) and len(text) > 8
    }
    assert texts
    quiet = json.dumps([dataclasses.asdict(span) for span in all_spans(events)])
    loud = json.dumps([dataclasses.asdict(span) for span in all_spans(events, content=True)])
    assert [text for text in texts if json.dumps(text)[1:-1] in quiet] == []
    assert any(json.dumps(text)[1:-1] in loud for text in texts)

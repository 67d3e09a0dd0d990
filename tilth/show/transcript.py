"""The transcript: a task's whole conversation, readable from top to bottom.

Prompts, prose, calls with their output, gates, verdicts and a person's words, in the order in which
they happened. Nothing is left out and nothing is interpreted; other events get their one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tilth.log import events as ev
from tilth.log.events import Event
from tilth.show.lines import full
from tilth.show.note import Tone
from tilth.show.tables import Page
from tilth.show.task_view import TaskView
from tilth.show.times import local_time

# Their content stands in what is told of the events beside them.
_TOLD_ELSEWHERE = (ev.ToolCalled, ev.LedgerAppended, ev.MemoryLoad)


def print_transcript(view: TaskView, page: Page) -> None:
    """Put one task's conversation on the page."""
    empty = True
    for event in view.session.events():
        if event.task_id != view.task.id or isinstance(event.payload, _TOLD_ELSEWHERE):
            continue
        empty = False
        about = "" if event.scope.iter is None else f", iteration {event.scope.iter}"
        heading = f"── {_title(event)} ── {local_time(event.ts)}{about}, event {event.seq}"
        page.line(heading, Tone.HEAD)
        for text in _texts(event):
            page.line(f"\n{text}")
        page.line()
    if empty:
        page.line("Nothing has happened to this task yet.")


def _title(event: Event) -> str:
    match event.payload:
        case ev.PromptAssembled(role=role):
            return f"what the {role} is told"
        case ev.ModelCall(role=role):
            return f"{role}"
        case ev.ToolResulted(name=name, is_error=wrong):
            return f"result of {name}{', an error' if wrong else ''}"
        case ev.ValidatorRun(name=name, passed=passed):
            return f"gate: {name} {'passed' if passed else 'FAILED'}"
        case ev.EvaluatorVerdict(verdict=verdict, source=source):
            return f"verdict: {verdict}, by the {source}"
        case ev.OperatorSpoke(verb=verb):
            return f"a person: {verb}"
    return event.type


def _texts(event: Event) -> Iterator[str]:
    match event.payload:
        case ev.PromptAssembled() as prompt:
            yield str(prompt.head.get("system", ""))
            for message in prompt.messages:
                yield from _blocks(message["content"])
        case ev.ModelCall() as call:
            yield from _blocks(call.content)
        case ev.ToolResulted() as result:
            yield result.content
        case ev.ValidatorRun() as run:
            yield run.output
        case ev.EvaluatorVerdict() as verdict:
            yield from _verdict(verdict)
        case ev.OperatorSpoke() as word:
            yield word.note or word.text
        case ev.Nudge() as nudge:
            yield nudge.text
        case _:
            yield full(event)


def _blocks(content: Any) -> Iterator[str]:
    for block in content:
        match block.get("type"):
            case "text":
                yield str(block.get("text", ""))
            case "thinking":
                yield f"(thinking) {block.get('thinking', '')}"
            case "tool_use":
                yield _call(block)
            case kind:
                yield f"({kind})"


def _call(block: dict[str, Any]) -> str:
    arguments = block.get("input")
    if not isinstance(arguments, dict):
        return f"▶ {block.get('name')} {json.dumps(arguments, ensure_ascii=False)}"
    lines = [f"▶ {block.get('name')}"]
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
        lines += [f"  {name}:", *(f"    {line}" for line in text.split("\n"))]
    return "\n".join(lines)


def _verdict(verdict: ev.EvaluatorVerdict) -> Iterator[str]:
    lines = [verdict.concern, *(f"- {item}" for item in verdict.evidence)]
    if verdict.next_step:
        lines.append(f"Next step: {verdict.next_step}")
    if verdict.score is not None:
        lines.append(f"Score: {verdict.score}")
    yield "\n".join(lines)

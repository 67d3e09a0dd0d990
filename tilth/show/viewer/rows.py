"""Rows: one event as the viewer lists it, and its whole text as the viewer opens it.

The line is the one every other command shows. Texts are made inert, so that what a terminal or a
browser would act on is seen instead. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import singledispatch
from typing import Any

from tilth.base.clock import read_moment
from tilth.base.safe_text import inert
from tilth.log.events import (
    EvaluatorParseError,
    EvaluatorTool,
    Event,
    ModelCall,
    ModelRetry,
    Nudge,
    Payload,
    PromptAssembled,
    ToolCalled,
    ToolResulted,
)
from tilth.model.messages import Role
from tilth.show.lines import in_full, lines
from tilth.show.note import Note, Tone
from tilth.show.progress import Progress

_LOUD = frozenset({Tone.LOUD, Tone.BAD, Tone.WARN})
# Tabs and line breaks lay text out and do nothing else.
_UNUSUAL = re.compile(r"[^\n\t -~]+")


class Actor(StrEnum):
    """Sort events by who acts in them."""

    WORKER = "worker"
    TOOL = "tool"
    GATE = "gate"
    EVALUATOR = "evaluator"
    PERSON = "person"
    HARNESS = "harness"


# An event that is not named is the harness's own.
_KINDS = {
    "tool_call": Actor.TOOL,
    "tool_result": Actor.TOOL,
    "pre_tool_block": Actor.TOOL,
    "hook_run": Actor.TOOL,
    "case_submitted": Actor.WORKER,
    "case_parse_error": Actor.WORKER,
    "blocker_raised": Actor.EVALUATOR,
    "validator_run": Actor.GATE,
    "seed_tampered": Actor.GATE,
    "gate_steered": Actor.GATE,
    "seed_already_green": Actor.GATE,
    "probe_run": Actor.GATE,
    "probe_failed": Actor.GATE,
    "mutants": Actor.GATE,
    "challenge": Actor.GATE,
    "landing_refused": Actor.GATE,
    "evaluator_verdict": Actor.EVALUATOR,
    "evaluator_parse_error": Actor.EVALUATOR,
    "evaluator_tool": Actor.EVALUATOR,
    "second_opinion": Actor.EVALUATOR,
    "operator_request": Actor.PERSON,
    "operator_word": Actor.PERSON,
}


# The steps of the work itself. There are very many of them, and their lines say what they hold.
PLAIN_TYPES = frozenset(
    {"model_call", "tool_call", "tool_result", "prompt_assembled", "hook_run", "ledger_appended"}
)


def kind_of(payload: Payload) -> Actor:
    """Say who acts in an event."""
    if isinstance(payload, ModelCall | PromptAssembled | ModelRetry):
        return Actor.EVALUATOR if payload.role is Role.EVALUATOR else Actor.WORKER
    return _KINDS.get(payload.type, Actor.HARNESS)


def milliseconds(ts: str) -> int:
    """Give a written moment as browsers count it; 0 where it is none."""
    moment = read_moment(ts)
    return round(moment.timestamp() * 1000) if moment else 0


def notes_on(event: Event) -> tuple[Note, ...]:
    return tuple(lines(event.payload, Progress()))


def row(event: Event) -> dict[str, Any]:
    """Give an event as one line of the list."""
    notes = notes_on(event)
    return {
        "seq": event.seq,
        "at": milliseconds(event.ts),
        "task": event.task_id,
        "type": shown(event.type),
        "kind": kind_of(event.payload),
        "line": in_full(notes),
        "loud": any(note.tone in _LOUD for note in notes),
    }


def body(event: Event) -> dict[str, Any]:
    """Give an event whole."""
    told = [part for note in notes_on(event) for part in (note.text, *note.details)]
    return {
        "seq": event.seq,
        "at": milliseconds(event.ts),
        "task": event.task_id,
        "iter": event.scope.iter,
        "type": shown(event.type),
        "lines": told,
        "text": text_of(event.payload),
        "about": shown("\n".join(_about(event.payload))),
    }


def text_of(payload: Payload) -> str:
    """Give all that an event holds as text."""
    return shown("\n".join(_text(payload)).strip("\n"))


def shown(text: str) -> str:
    """Make any text safe to show; line breaks and tabs stay."""
    return _UNUSUAL.sub(lambda found: inert(found[0]), text.replace("\r\n", "\n"))


@singledispatch
def _text(payload: Payload) -> Iterator[str]:
    yield from outline(payload.to_data())


@_text.register
def _(prompt: PromptAssembled) -> Iterator[str]:
    yield "── system"
    yield from _content(prompt.head.get("system", ""))
    for message in prompt.messages:
        yield f"\n── {message.get('role', 'user')}"
        yield from _content(message.get("content", ""))
    for tool in prompt.head.get("tools", ()):
        yield f"\n── tool {tool.get('name', '')}"
        yield from outline({name: said for name, said in tool.items() if name != "name"})


@_text.register
def _(call: ModelCall) -> Iterator[str]:
    yield from _content(call.content)


@_text.register
def _(called: ToolCalled) -> Iterator[str]:
    yield called.name
    yield from outline(called.arguments)


@_text.register
def _(result: ToolResulted) -> Iterator[str]:
    yield result.content


@_text.register
def _(tool: EvaluatorTool) -> Iterator[str]:
    yield tool.name
    yield from outline(tool.arguments)
    yield "── result"
    yield tool.content


@_text.register
def _(nudge: Nudge) -> Iterator[str]:
    yield nudge.text


@_text.register
def _(error: EvaluatorParseError) -> Iterator[str]:
    yield error.error
    yield from outline(error.raw)
    yield from _content(error.reply)


def _about(payload: Payload) -> Iterator[str]:
    """Give what stands around a text that is shown by itself: the numbers of a call, its ids."""
    said = payload.to_data()
    if isinstance(payload, ModelCall | ToolResulted):
        yield from outline({name: value for name, value in said.items() if name != "content"})
    elif isinstance(payload, PromptAssembled):
        head = {n: value for n, value in payload.head.items() if n not in ("system", "tools")}
        around = ("conversation", "role", "endpoint")
        yield from outline({name: said[name] for name in around} | head)


def _content(content: Any) -> Iterator[str]:
    """Give the blocks of one message, each under what it is."""
    if not isinstance(content, Sequence) or isinstance(content, str):
        yield from outline(content)
        return
    for block in content:
        said = dict(block) if isinstance(block, Mapping) else {"type": "text", "text": block}
        kind = said.pop("type", "")
        if kind in ("text", "thinking"):
            yield ("── thinking\n" if kind == "thinking" else "") + str(said.get(kind, ""))
        elif kind == "tool_use":
            yield f"── {said.get('name', '')}"
            yield from outline(said.get("input"))
        else:
            yield f"── {kind}"
            yield from outline(said)


def outline(said: Any, depth: int = 0) -> Iterator[str]:
    """Give data as indented lines; a text of several lines stands whole below its name."""
    margin = "  " * depth
    if isinstance(said, Mapping):
        for name, value in said.items():
            yield from _named(f"{margin}{name}:", value, depth)
    elif isinstance(said, Sequence) and not isinstance(said, str):
        for value in said:
            first, *rest = [*outline(value, depth + 1)] or [""]
            yield f"{margin}- {first.lstrip()}"
            yield from rest
    else:
        yield margin + _plain(said)


def _named(name: str, value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str) and "\n" in value:
        yield name
        yield value
    elif isinstance(value, Mapping | Sequence) and not isinstance(value, str):
        if value:
            yield name
            yield from outline(value, depth + 1)
    elif value is not None:
        yield f"{name} {_plain(value)}"


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)

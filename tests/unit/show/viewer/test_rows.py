"""Rows and whole texts of events."""

from __future__ import annotations

from typing import Any

import pytest
from support.event_samples import SAMPLES, SESSION

from tilth.log.events import Event, Payload, Scope, ToolResulted
from tilth.show.lines import full
from tilth.show.viewer.rows import Actor, body, outline, row, shown


def event(payload: Payload) -> Event:
    return Event(7, "2026-11-16T22:15:30.250Z", SESSION, Scope("T-001", 2), payload)


def result(content: str) -> ToolResulted:
    about = {"conversation": "c", "call_id": "1", "name": "bash"}
    return ToolResulted(**about, content=content, is_error=False)


@pytest.mark.parametrize("payload", SAMPLES.values(), ids=lambda payload: payload.type)
def test_every_kind_has_the_line_all_others_show_and_a_whole(payload: Payload) -> None:
    listed, whole = row(event(payload)), body(event(payload))
    assert listed["line"] == full(event(payload))
    assert listed["kind"] in tuple(Actor)
    assert listed["at"] == 1794867330250
    assert whole["lines"]


def test_output_stands_as_it_was_but_for_what_would_act() -> None:
    text = "a\tb\n  'max  size'\r\n\x1b[31mred \u202ereversed\x00"
    said = body(event(result(text)))["text"]
    assert said == "a\tb\n  'max  size'\n␛[31mred \\u202ereversed␀"


def test_lone_surrogates_can_be_shown() -> None:
    assert shown("a\ud800b") == "a\\ud800b"


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        ({"a": 1, "b": True, "c": None}, ["a: 1", "b: yes"]),
        ({"a": {"b": "x"}}, ["a:", "  b: x"]),
        ({"a": ["x", {"b": 1, "c": 2}]}, ["a:", "  - x", "  - b: 1", "    c: 2"]),
        ({"a": "one\ntwo"}, ["a:", "one\ntwo"]),
        ("text", ["text"]),
        (None, [""]),
    ],
)
def test_data_is_told_as_an_outline(said: Any, lines: list[str]) -> None:
    assert [*outline(said)] == lines

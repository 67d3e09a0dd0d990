"""What a model is doing, told while its answer streams in."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.model.activity import Activity


def told(*events: dict[str, Any]) -> list[str]:
    said: list[str] = []
    activity = Activity(said.append)
    for event in events:
        activity.take(event)
    return said


def start(**block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": 0, "content_block": block}


def delta(**delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def test_thinking_is_told_and_its_text_is_not() -> None:
    assert told(start(type="thinking"), delta(thinking="secret")) == ["thinks"]


def test_of_prose_the_last_line_is_told() -> None:
    said = told(start(type="text"), delta(text="First.\nSec"), delta(text="ond.\n\n"))
    assert said == ["writes", "says: Sec", "says: Second."]


def test_of_a_call_the_file_is_told_as_soon_as_it_is_known() -> None:
    said = told(
        start(type="tool_use", name="edit_file"),
        delta(partial_json='{"pa'),
        delta(partial_json='th": "words.py", "old": "x'),
        delta(partial_json="y" * 5000),
        delta(partial_json='"path": "other.py"'),
    )
    assert said[0] == "writes edit_file"
    assert set(said[1:]) == {"writes edit_file: words.py"}


@pytest.mark.parametrize(
    "event", [{}, {"type": "ping"}, start(), delta(text=7), {"delta": []}, delta(stop_reason="x")]
)
def test_what_is_no_answer_harms_nothing(event: dict[str, Any]) -> None:
    assert set(told(event)) <= {"writes"}

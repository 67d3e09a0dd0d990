"""Replies: what a worker hears that wrote a call as text, and where its message leads it."""

from __future__ import annotations

from typing import Any

import pytest

from tilth.contract.prd import Task
from tilth.model.messages import Turn, Usage
from tilth.task.briefs import Background, WorkerView, nudge, worker_message


def spec(name: str, *arguments: str) -> dict[str, Any]:
    schema = {"properties": {key: {} for key in arguments}, "required": list(arguments)}
    return {"name": name, "input_schema": schema}


TOOLS = [spec("write_file", "path", "content"), spec("submit_case", "summary")]


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ('{"name": "write_file", "arguments": {"path": "a.py"}}', "`write_file` with"),
        ('```json\n{"tool": "submit_case"}\n```', "`submit_case` with"),
        ('{"path": "a.py", "content": "x"}', "`path`, `content`"),
        ("I will write the file now.", "called no tool"),
        ('The config holds {"name": "app"}.', "called no tool"),
    ],
)
def test_a_call_written_as_text_is_answered_by_how_to_make_it(text: str, how: str) -> None:
    content = ({"type": "text", "text": text},)
    turn = Turn(content=content, stop_reason="end_turn", usage=Usage(), model="m", latency_ms=1)
    assert how in nudge(turn, TOOLS)


def test_the_worker_is_shown_what_stands_at_the_root_and_asked_to_look() -> None:
    view = WorkerView(
        task=Task(id="T-001", title="Cut", description="Cut.", acceptance_criteria=("It cuts.",)),
        tests=(),
        root=("README.md", "src/", *(f"m{n}.py" for n in range(60))),
        plan=(),
        upstream=(),
        answers=(),
        ledger=(),
        conventions=(),
        background=Background(),
        progress=(),
    )
    message = worker_message(view)
    assert "At the root: README.md, src/, m0.py" in message
    assert "… and 22 more" in message
    assert message.endswith("\nBegin by looking at the code.\n")
    assert "submit_case" not in message

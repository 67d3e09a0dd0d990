"""Time a verification: `tilth replay --verify-only` against reading the same file as plain JSON."""

from __future__ import annotations

import json
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

from tilth.base.clock import SystemClock
from tilth.base.values import digest
from tilth.config.secrets import Mask
from tilth.log.events import ModelCall, PromptAssembled, TaskDone, ToolCalled, ToolResulted
from tilth.log.reader import read_events
from tilth.log.verification import verify
from tilth.log.writer import Emitter, EventLog
from tilth.model.messages import Conversation, Role, ToolResult, ToolSpec, Usage

EVENTS = 10_000
TURNS_A_TASK = 40
SESSION = "20260101-000000-abcdef"
RESULT = "tests/test_sample.py::test_one PASSED and a line that says a little more\n" * 24


def write_log(path: Path, events: int = EVENTS) -> None:
    """Write a valid log: tasks of many turns, each with an answer, a call and its result."""
    log = EventLog(path, session=SESSION, clock=SystemClock(), mask=Mask())
    written, number = 0, 0
    for number in range(1, events):
        emit = Emitter(log).bind(task_id=f"T-{number:03d}", iter=1)
        for _ in _task(emit, number):
            written += 1
            if written == events:
                log.close()
                return


def _task(emit: Emitter, number: int) -> Iterator[None]:
    conversation = Conversation(
        id=f"conversation-{number}",
        role=Role.WORKER,
        model="claude-sonnet-5-5",
        max_tokens=16_000,
        system="You work in a repository. " * 150,
        tools=[ToolSpec(name=f"tool{n}", description="d" * 400, input_schema={}) for n in range(8)],
    )
    conversation.say("# Your task: make it work.\n" * 100)
    emit(
        PromptAssembled(
            conversation=conversation.id,
            role=Role.WORKER,
            endpoint="recording",
            head=conversation.head,
            messages=tuple(conversation.messages),
        )
    )
    yield
    for turn in range(TURNS_A_TASK):
        yield from _turn(emit, conversation, f"toolu_{number}_{turn}")
    emit(TaskDone(commit=None, score=None, iterations=TURNS_A_TASK, evaluated=True))
    yield


def _turn(emit: Emitter, conversation: Conversation, call_id: str) -> Iterator[None]:
    arguments = {"command": "python -m pytest -q tests/test_sample.py"}
    content = (
        {"type": "text", "text": "I take the next step and look at what comes of it. " * 4},
        {"type": "tool_use", "id": call_id, "name": "bash", "input": arguments},
    )
    emit(
        ModelCall(
            conversation=conversation.id,
            role=Role.WORKER,
            request_sha256=conversation.sha256(),
            content=content,
            stop_reason="tool_use",
            usage=Usage(input_tokens=12, output_tokens=180, cache_read_tokens=9000),
            model="claude-sonnet-5-5",
            latency_ms=4000,
            cost_usd=0.01,
        )
    )
    conversation.hear(content)
    yield
    about = {"conversation": conversation.id, "call_id": call_id, "name": "bash"}
    emit(ToolCalled(**about, arguments=arguments))
    yield
    emit(ToolResulted(**about, content=RESULT, is_error=False, sha256=digest(RESULT)))
    conversation.reply([ToolResult(call_id=call_id, content=RESULT).to_wire()])
    yield


def read_plainly(path: Path) -> None:
    with path.open("rb") as file:
        for raw in file:
            json.loads(raw)


def verify_log(path: Path) -> None:
    found = verify(read_events(path))
    if not found.holds or not found.requests:
        raise RuntimeError(f"{found.identical} of {found.requests} requests are identical")


def seconds(action: Callable[[Path], None], path: Path) -> float:
    began = time.perf_counter()
    action(path)
    return time.perf_counter() - began


def verify_ratio(rounds: int = 5) -> tuple[float, float]:
    """Give how much longer verifying takes than reading, taken in pairs, and its peak in MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        write_log(path)
        pairs = [(seconds(verify_log, path), seconds(read_plainly, path)) for _ in range(rounds)]
        tracemalloc.start()
        verify_log(path)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return statistics.median(ours / bare for ours, bare in pairs), peak

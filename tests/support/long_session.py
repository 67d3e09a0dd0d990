"""A long session made by a script: its files as a run leaves them, with as many events as asked.

What it holds is plain and the same every time, so that what the viewer shows of it can be told in
advance. It knows nothing of Tilth's own modules.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

SESSION = "20261116-221530-a1b2c3"
SHA = "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"
START = datetime(2026, 11, 16, 22, 15, 30, tzinfo=UTC)
OUTPUT = "tests/test_sample.py::test_one PASSED and a line that says a little more\n" * 12

# A payload may stand there as it is written.
Happening = tuple[str, str | None, int | None, dict[str, Any] | str]


def make_session(sessions: Path, events: int, tasks: int = 20, name: str = SESSION) -> Path:
    """Write a whole session; gives its directory."""
    directory = sessions / name
    directory.mkdir(parents=True)
    happenings = night(events, tasks)
    with (directory / "events.jsonl").open("w", encoding="utf-8") as log:
        for seq, happening in enumerate(happenings, start=1):
            log.write(line_of(seq, happening, name) + "\n")
    _put(directory / "checkpoint.json", _checkpoint(name))
    _put(directory / "prd.json", {"version": 1, "feature": "a long night", "tasks": _plan(tasks)})
    (directory / "lock").touch()
    return directory


def line_of(seq: int, happening: Happening, name: str = SESSION) -> str:
    """Give one line of the log."""
    kind, task, turn, payload = happening
    said = payload if isinstance(payload, str) else _dumped(payload)
    moment = (START + timedelta(milliseconds=600 * seq)).isoformat(timespec="milliseconds")
    envelope: dict[str, Any] = {"seq": seq, "ts": moment.replace("+00:00", "Z"), "type": kind}
    envelope |= {"session": name, "task_id": task, "iter": turn, "trace_id": None, "span_id": None}
    return f'{_dumped(envelope)[:-1]},"payload":{said}}}'


def _dumped(said: Any) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def night(events: int, tasks: int) -> list[Happening]:
    """Give what happened: turns of a worker on one task after another, and a stop."""
    each = (events - 2) // tasks
    told: list[Happening] = [("session_start", None, None, session_start(tasks))]
    for number in range(1, tasks + 1):
        room = each if number < tasks else events - 1 - len(told)
        told += _task(f"T-{number:03d}", room)
    stop = {"reason": "all_done", "exit_code": 0, "detail": ""}
    return [*told, ("stop", None, None, stop)]


def _task(task: str, room: int) -> list[Happening]:
    """Give exactly so many events of one task."""
    told: list[Happening] = []
    story = _story(task)
    last: Happening = ("task_done", task, 1, task_done(room // 3))
    while len(told) < room - 1:
        told.append(next(story))
    return [*told, last]


def _story(task: str) -> Iterator[Happening]:
    reset = {"agent": f"{task}-1", "base": SHA, "reason": "task_started"}
    yield "context_reset", task, None, reset
    yield "prompt_assembled", task, None, prompt(task)
    # Written once and filled in: there are very many turns.
    mark = 987654321
    steps = {
        "model_call": _dumped(model_call(task, mark)),
        "tool_call": _dumped(tool_call(task, mark)),
        "tool_result": _dumped(tool_result(task, mark)),
    }
    for turn in itertools.count(1):
        for kind, said in steps.items():
            yield kind, task, turn, said.replace(str(mark), str(turn))


def session_start(tasks: int) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "tilth_version": "0.1.0",
        "source": "/nowhere/words",
        "branch": f"session/{SESSION}",
        "base_commit": SHA,
        "feature": "a long night",
        "tasks": tasks,
        "worker_model": "claude-sonnet-5-5",
        "evaluator_model": "claude-opus-5-5",
        "same_model": False,
        "evaluate": True,
        "sandbox": "bwrap",
        "settings": {"TILTH_MAX_COST_USD": "500"},
    }


def prompt(task: str) -> dict[str, Any]:
    head = {
        "model": "claude-sonnet-5-5",
        "max_tokens": 16000,
        "system": "You work in a repository.",
    }
    first = {"role": "user", "content": [{"type": "text", "text": f"# Your task: {task} A part"}]}
    about = {"conversation": f"c-{task}", "role": "worker", "endpoint": "http://127.0.0.1:1"}
    return {**about, "head": {**head, "tools": []}, "messages": [first]}


def model_call(task: str, turn: int, text: str = "I take the next step. ") -> dict[str, Any]:
    command = {"command": f"python -m pytest -q tests/test_part_{turn}.py"}
    return {
        "conversation": f"c-{task}",
        "role": "worker",
        "request_sha256": "0" * 64,
        "content": [
            {"type": "text", "text": text * 4},
            {"type": "tool_use", "id": f"toolu_{task}_{turn}", "name": "bash", "input": command},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 12, "output_tokens": 180, "cache_read_tokens": 9000},
        "model": "claude-sonnet-5-5",
        "latency_ms": 900,
        "cost_usd": 0.004,
    }


def tool_call(task: str, turn: int) -> dict[str, Any]:
    arguments = {"command": f"python -m pytest -q tests/test_part_{turn}.py"}
    return {**_call(task, turn), "arguments": arguments}


def tool_result(task: str, turn: int, content: str = OUTPUT) -> dict[str, Any]:
    said = f"{content}part {turn} of {task} ran\n"
    return {**_call(task, turn), "content": said, "is_error": False, "duration_ms": 400}


def _call(task: str, turn: int) -> dict[str, Any]:
    return {"conversation": f"c-{task}", "call_id": f"toolu_{task}_{turn}", "name": "bash"}


def task_done(iterations: int) -> dict[str, Any]:
    verdict = {"verdict": "accept", "below_bar": False}
    return {"commit": SHA, "score": 92, "iterations": iterations, "evaluated": True, **verdict}


def _plan(tasks: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"T-{number:03d}",
            "title": f"Add part {number}",
            "description": f"The module needs part {number}.",
            "acceptance_criteria": [f"part {number} works"],
            "status": "done",
            "score": 92,
            "commit": SHA,
        }
        for number in range(1, tasks + 1)
    ]


def _checkpoint(name: str) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "session": name,
        "status": "done",
        "source": "/nowhere/words",
        "branch": f"session/{name}",
        "base_commit": SHA,
        "created": "2026-11-16T22:15:30.000Z",
        "updated": "2026-11-17T06:15:30.000Z",
        "usage": {},
    }


def _put(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")

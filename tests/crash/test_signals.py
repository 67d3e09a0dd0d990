"""Ctrl-C and SIGTERM: once to stop after the current call, twice to stop at once."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
from messages_api import Reply, Request, call
from sites import read_lines
from theatre import Stage, answer, fork, reap


def slow(request: Request) -> Reply:
    """Answer the worker's first call with a command that takes its time."""
    if request.role == "worker" and len(request.body["messages"]) == 1:
        return call("bash", command="echo begun > mark.txt; sleep 2; echo ended >> mark.txt")
    return answer(request)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, tasks=1, script=slow)


def wait_for(condition: object) -> None:
    deadline = time.monotonic() + 30
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.01)


def mark(stage: Stage) -> Path:
    return stage.site.session() / "workspace" / "mark.txt"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_after_the_current_call(stage: Stage, number: int) -> None:
    with stage.server:
        pid = fork(stage.running())
        wait_for(lambda: stage.has_session() and mark(stage).exists())
        os.kill(pid, number)
        assert reap(pid) == 130
        assert mark(stage).read_text(encoding="utf-8") == "begun\nended\n"
        events = read_lines(stage.log)
        assert events[-1]["payload"]["reason"] == "interrupted"
        assert events[-2]["type"] == "tool_result"
        assert stage.go_on() == 0
    stage.check()


def test_two_signals_stop_at_once_and_it_is_still_resumable(stage: Stage) -> None:
    with stage.server:
        pid = fork(stage.running())
        wait_for(lambda: stage.has_session() and mark(stage).exists())
        os.kill(pid, signal.SIGINT)
        time.sleep(0.1)
        os.kill(pid, signal.SIGINT)
        assert reap(pid) == 130
        assert mark(stage).read_text(encoding="utf-8") == "begun\n"
        assert read_lines(stage.log)[-1]["payload"]["reason"] == "interrupted"
        assert stage.go_on() == 0
    results = [
        event["payload"] for event in read_lines(stage.log) if event["type"] == "tool_result"
    ]
    assert results[0]["interrupted"] is True
    stage.check()

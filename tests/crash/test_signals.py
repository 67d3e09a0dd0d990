"""Ctrl-C, SIGTERM and a closed terminal: once to stop after the current call, twice at once."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.crash_stage import Stage, answer, fork, reap
from support.flow_site import read_lines
from support.messages_api import Reply, Request, call, error
from support.waiting import wait_for
from support.warm_start import warm_tilth

# A command that takes its time: until it is told to end.
SLOW = "echo begun > mark.txt; until [ -e end ]; do sleep 0.1; done; rm end; echo end >> mark.txt"


def slow(request: Request) -> Reply:
    """Answer the worker's first call with a command that takes its time."""
    if request.role == "worker" and len(request.body["messages"]) == 1:
        return call("bash", command=SLOW)
    return answer(request)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path, tasks=1, script=slow)


def mark(stage: Stage) -> Path:
    return stage.site.session() / "workspace" / "mark.txt"


def wait_until_begun(stage: Stage) -> None:
    def has_begun() -> bool:
        there = stage.has_session() and mark(stage).exists()
        return there and mark(stage).read_text("utf-8") == "begun\n"

    wait_for(has_begun, "the slow command to begin")


def send(pid: int, number: int) -> None:
    """Send a signal and wait until it was taken: a second one would be lost in the first."""
    os.kill(pid, number)

    def is_taken() -> bool:
        status = Path(f"/proc/{pid}/status").read_text("ascii")
        waiting = next(line for line in status.splitlines() if line.startswith("ShdPnd"))
        return not int(waiting.split()[1], 16) & (1 << (number - 1))

    wait_for(is_taken, "the signal to be taken")


@pytest.fixture
def hangup(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have SIGHUP as a terminal leaves it, or as `nohup` does, in what is started from here."""
    before = signal.signal(signal.SIGHUP, getattr(request, "param", signal.SIG_DFL))
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_after_the_current_call(stage: Stage, number: int) -> None:
    with stage.server:
        pid = fork(stage.running())
        wait_until_begun(stage)
        send(pid, number)
        mark(stage).with_name("end").touch()
        assert reap(pid) == 130
        assert mark(stage).read_text(encoding="utf-8") == "begun\nend\n"
        events = read_lines(stage.log)
        assert events[-1]["payload"]["reason"] == "interrupted"
        assert events[-2]["type"] == "tool_result"
        assert stage.go_on() == 0
    stage.check()


@pytest.mark.usefixtures("hangup")
@pytest.mark.parametrize("hangup", [signal.SIG_DFL, signal.SIG_IGN], indirect=True)
def test_a_hangup_stops_nothing_however_often_it_is_told(stage: Stage) -> None:
    with stage.server:
        pid = fork(stage.running())
        wait_until_begun(stage)
        for _ in range(2):
            os.kill(pid, signal.SIGHUP)
            time.sleep(0.1)
        mark(stage).with_name("end").touch()
        assert reap(pid) == 0
    stage.check()


@pytest.mark.usefixtures("hangup")
def test_a_run_outlives_its_terminal(stage: Stage) -> None:
    with stage.server:
        environ = {**os.environ, **stage.site.environ(stage.server.url), "TERM": "xterm"}
        typed = ["run", str(stage.target), "--repo", str(stage.site.repo), "--no-ping"]
        pid, screen = pty.fork()
        if pid == 0:
            os.execve(sys.executable, [sys.executable, "-m", "tilth", *typed], environ)
        wait_until_begun(stage)
        assert b"worker" in os.read(screen, 1 << 16)
        os.close(screen)
        mark(stage).with_name("end").touch()
        assert reap(pid) == 0
    stage.check()


def several(request: Request) -> Reply:
    """Answer the worker's first call with three commands at once, the first a slow one."""
    if request.role == "worker" and len(request.body["messages"]) == 1:
        begin = call("bash", command=SLOW)
        return begin + call("bash", command="echo second >> mark.txt") + call("bash", command="ls")
    return answer(request)


def test_a_signal_is_heard_between_two_calls_of_one_answer(tmp_path: Path) -> None:
    stage = Stage(tmp_path, tasks=1, script=several)
    with stage.server:
        pid = fork(stage.running())
        wait_until_begun(stage)
        send(pid, signal.SIGINT)
        mark(stage).with_name("end").touch()
        assert reap(pid) == 130
        assert mark(stage).read_text(encoding="utf-8") == "begun\nend\n"
        assert [event["type"] for event in read_lines(stage.log)].count("tool_call") == 1
        assert stage.go_on() == 0
    calls = [event for event in read_lines(stage.log) if event["type"] == "tool_call"]
    assert len({event["payload"]["call_id"] for event in calls}) == len(calls)
    stage.check()


def test_a_call_that_fails_after_the_signal_is_no_failure_of_the_endpoint(tmp_path: Path) -> None:
    running: list[int] = []

    def refused(request: Request) -> Reply:
        wait_for(lambda: bool(running), "the number of the run")
        send(running[0], signal.SIGINT)
        return error(401, "no such key")

    stage = Stage(tmp_path, tasks=1, script=refused)
    with stage.server:
        running.append(fork(stage.running()))
        assert reap(running[0]) == 130
    last = read_lines(stage.log)[-1]["payload"]
    assert (last["reason"], last["exit_code"]) == ("interrupted", 130)
    assert "no such key" in last["detail"]


def test_two_signals_stop_at_once_and_it_is_still_resumable(stage: Stage) -> None:
    with stage.server:
        pid = fork(stage.running())
        wait_until_begun(stage)
        send(pid, signal.SIGINT)
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


def test_a_signal_is_heard_while_nobody_reads_what_is_printed(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    filling = [True]

    def script(request: Request) -> Reply:
        # Once: when a later call comes, this end may be closed.
        if request.role == "worker" and filling:
            filling.clear()
            # From here on nothing more can be printed.
            for size in (4096, 1):
                with contextlib.suppress(BlockingIOError):
                    while True:
                        os.write(writer, b"x" * size)
        return answer(request)

    stage = Stage(tmp_path, tasks=1, script=script)
    with stage.server:
        environ = stage.site.environ(stage.server.url)
        # A ping would be the first to be heard, with much still to print before the work.
        target = [stage.target, "--repo", stage.site.repo, "--no-ping"]
        child_end = os.open(f"/proc/self/fd/{writer}", os.O_WRONLY)
        process = subprocess.Popen(
            [warm_tilth(), "run", *target],
            env=environ,
            stdout=subprocess.DEVNULL,
            stderr=child_end,
        )
        os.close(child_end)
        try:
            wait_for(
                lambda: stage.has_session() and b'"model_call"' in stage.log.read_bytes(),
                "the first call of the model",
            )
            # The process that works, not the one that stands for it.
            holder = (stage.site.session() / "lock").read_text("utf-8").split()[0]
            state = Path(f"/proc/{holder}/stat")
            wait_for(lambda: state.read_text().split(") ")[1][0] == "S", "it to wait")
            process.send_signal(signal.SIGINT)
            os.close(writer)
            with open(reader, "rb") as printed:
                said = printed.read()
            assert process.wait(120) == 130
        finally:
            process.kill()
            process.wait()
    assert b"reentrant" not in said
    stop = read_lines(stage.log)[-1]
    assert (stop["type"], stop["payload"]["reason"]) == ("stop", "interrupted")

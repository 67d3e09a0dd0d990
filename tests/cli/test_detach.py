"""`--detach`: a run starts without a screen, and the command that started it ends at once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.crash_stage import Stage, answer
from support.flow_site import read_lines
from support.messages_api import Reply, Request
from support.waiting import wait_for
from support.words import command

from tilth.session.store import lock_holder


def typed(stage: Stage, *args: str) -> subprocess.CompletedProcess[str]:
    """Type a command in a terminal session of its own, which ends with it."""
    environ = {**os.environ, **stage.site.environ(stage.server.url)}
    return subprocess.run(
        [sys.executable, "-m", "tilth", *args],
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        start_new_session=True,
    )


def ended(stage: Stage) -> bool:
    events = read_lines(stage.log)
    at_rest = lock_holder(stage.site.session() / "lock") is None
    return at_rest and bool(events) and events[-1]["type"] == "stop"


def started(done: subprocess.CompletedProcess[str], stage: Stage) -> str:
    """Give the session's name, once the command has said how to watch and stop it."""
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    name = stage.site.session().name
    assert re.fullmatch(rf"session {name} runs in the background \(process \d+\)", first)
    assert rest == [f"watch it  tilth events {name} --follow", f"stop it   tilth stop {name}"]
    return name


def test_a_run_and_a_resume_go_on_without_whoever_started_them(tmp_path: Path) -> None:
    stop: list[str] = []

    def script(request: Request) -> Reply:
        if request.role == "evaluator" and not stop:
            stop.append("once")
            wait_for(lambda: bool(stop[1:]), "somebody to ask for a stop")
        return answer(request)

    stage = Stage(tmp_path, tasks=1, script=script)
    with stage.server:
        target = [str(stage.target), "--repo", str(stage.site.repo), "--no-ping"]
        run = typed(stage, "run", *target, "--detach")
        name = started(run, stage)
        stop.append("now")
        said = command(stage.site, "stop", name)
        assert said.returncode == 0, said.stderr
        wait_for(lambda: ended(stage), "the run to stop")
        if read_lines(stage.log)[-1]["payload"]["reason"] != "all_done":
            started(typed(stage, "resume", name, "--detach"), stage)
        wait_for(lambda: ended(stage), "the resume to end")
        wait_for(lambda: read_lines(stage.log)[-1]["payload"]["exit_code"] == 0, "all to be done")
    stage.check()


@pytest.mark.parametrize("args", [["run", "nowhere"], ["resume", "20261116-093000-a1b2c3"]])
def test_what_cannot_start_is_said_and_leaves_nothing(tmp_path: Path, args: list[str]) -> None:
    stage = Stage(tmp_path, tasks=1)
    with stage.server:
        done = typed(stage, *args, "--detach")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("tilth: ")
    assert not stage.has_session()

"""A kill in the middle of a quota wait: the resume goes on sleeping, up to the recorded end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from support.crash_stage import Stage, answer, fork, reap
from support.flow_site import read_lines
from support.messages_api import Reply, Request, error
from support.night_clock import NightClock
from support.waiting import wait_for

from tilth.session.frontend import Frontend
from tilth.session.resume import resume


def limited() -> Callable[[Request], Reply]:
    """Answer, but for the first call of all, which meets a limit that ends in an hour."""
    calls = []

    def reply(request: Request) -> Reply:
        calls.append(request)
        limit = error(429, "limit reached", retry_after="3600")
        return limit if len(calls) == 1 else answer(request)

    return reply


def waits(stage: Stage) -> list[dict[str, object]]:
    if not stage.has_session() or not stage.log.exists():
        return []
    return [event["payload"] for event in read_lines(stage.log) if event["type"] == "quota_wait"]


def test_a_killed_wait_goes_on_to_its_recorded_end(tmp_path: Path) -> None:
    stage = Stage(tmp_path, tasks=1, script=limited())
    with stage.server:
        pid = fork(stage.running())
        wait_for(lambda: len(waits(stage)) == 1, "the first wait")
        os.kill(pid, signal.SIGKILL)
        assert reap(pid) == -signal.SIGKILL
        asked = len(stage.server.requests)

        name, environ = stage.site.session().name, stage.site.environ(stage.server.url)
        pid = fork(lambda: int(resume(name, environ=environ).exit_code))
        wait_for(lambda: len(waits(stage)) == 2, "the second wait")
        os.kill(pid, signal.SIGKILL)
        reap(pid)
        assert len(stage.server.requests) == asked
        first, second = waits(stage)
        assert second["until"] == first["until"]
        assert second["resumed"] is True

        clock = NightClock(datetime.now(UTC) + timedelta(minutes=50))
        frontend = Frontend(interrupt=clock.interrupt())
        environ = stage.site.environ(stage.server.url)
        assert resume(name, environ=environ, frontend=frontend, clock=clock).exit_code == 0
        assert 0 < clock.slept <= 600
        assert clock.now() >= datetime.fromisoformat(str(first["until"]))
    stage.check()

"""A session with failed work that is stopped or killed, and goes on with another number of jobs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.crash_stage import fork, reap
from support.flow_site import git
from support.lane_plans import MadePlan, Outcome, PlanSite, Ways
from support.replays import play, standings

from tilth.model.messages import Role

# The second fails for good, two change the same line, one stands on the first.
TASKS = (Ways(1), Ways(2, fails=True), Ways(3, line=2), Ways(4, line=2), Ways(5, depends_on=(1,)))
DONE = {"T-001": "done", "T-003": "done", "T-004": "done", "T-005": "done"}
Before = Callable[[int, Role], None]


def calm(number: int, role: Role) -> None:
    """Let it be."""


def ending_by(way: str) -> Before:
    """End a run at the third task's second answer, when the second has failed."""
    seen = [0]

    def before(number: int, role: Role) -> None:
        seen[0] += number == 3 and role is Role.WORKER
        if seen[0] == 2 and way == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif seen[0] == 2:
            raise KeyboardInterrupt

    return before


def once(site: PlanSite, jobs: int, before: Before) -> Outcome:
    """Run or resume in a process of its own; an error is told at once."""

    def body() -> int:
        names = sessions(site)
        out = site.go_on(names[0], jobs, before) if names else site.run(jobs, before)
        if out.faulty:
            os.write(2, f"{out.detail}\n".encode())
        return 2 if out.faulty else 0

    assert reap(fork(body)) in (0, -signal.SIGKILL)
    return site.outcome(sessions(site)[0])


def sessions(site: PlanSite) -> list[str]:
    place = site.site.sessions
    return [each.name for each in place.iterdir() if each.name[0] != "."] if place.exists() else []


@pytest.mark.parametrize("then", [1, 2, 4])
@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("way", ["stop", "kill"])
def test_work_set_aside_hinders_no_resume(tmp_path: Path, way: str, first: int, then: int) -> None:
    site = PlanSite(tmp_path, MadePlan(seed=0, tasks=TASKS, on_exhausted="skip"))
    once(site, first, ending_by(way))
    go_on = partial(once, site, then)
    go_on(ending_by(way))
    last = go_on(calm)
    assert last.statuses == {**DONE, "T-002": "failed"}
    assert len(last.commits) == len(DONE)
    assert kept(site) == 1
    assert set(standings(play(site.site)).values()) == {"equal"}


@pytest.mark.parametrize("then", [1, 2, 4])
@pytest.mark.parametrize("way", ["stop", "kill"])
def test_a_failure_left_on_the_branch_hinders_no_resume(
    tmp_path: Path, way: str, then: int
) -> None:
    site = PlanSite(tmp_path, MadePlan(seed=0, tasks=TASKS, on_exhausted="halt"))
    assert len(once(site, 1, calm).commits) == 2
    # What it left there is put aside by whoever goes on, and no failure stops that one.
    site.plan = MadePlan(seed=0, tasks=TASKS, on_exhausted="skip")
    once(site, then, ending_by(way))
    last = once(site, then, calm)
    assert last.statuses == {**DONE, "T-002": "failed"}
    assert len(last.commits) == len(DONE)
    assert kept(site) == 1
    assert set(standings(play(site.site)).values()) == {"equal"}


def kept(site: PlanSite) -> int:
    return len(git(site.site.repo, "for-each-ref", "refs/tilth").splitlines())

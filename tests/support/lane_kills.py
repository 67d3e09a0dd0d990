"""Kills for lanes: a made plan that is killed at random steps and resumed until it gets through."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from functools import partial

from support.crash_stage import fork, reap
from support.lane_plans import Outcome, PlanSite

MOST_KILLS = 100


def suffer(
    site: PlanSite, calm: Outcome, chance: random.Random, *, jobs: int
) -> tuple[Outcome, int]:
    """Kill a session at random steps until it gets through; gives its end and the kills."""
    for kills in range(MOST_KILLS):
        name = _session(site, calm)
        code = reap(fork(partial(_play, site, name, jobs), _die_at(chance.randint(20, 150))))
        if code == 0:
            return site.outcome(_session(site, calm) or ""), kills
        assert code == -signal.SIGKILL, f"a resume ended with exit code {code}"
    raise AssertionError(f"not through after {MOST_KILLS} kills")


def _session(site: PlanSite, calm: Outcome) -> str | None:
    if not site.site.sessions.exists():
        return None
    found = {path.name for path in site.site.sessions.iterdir() if path.name[0] != "."}
    return next(iter(found - {calm.name}), None)


def _play(site: PlanSite, name: str | None, jobs: int) -> int:
    outcome = site.run(jobs) if name is None else site.go_on(name, jobs)
    if outcome.faulty:
        print(f"{outcome.name} stopped: {outcome.detail}", file=sys.stderr, flush=True)
    return 2 if outcome.faulty else 0


def _die_at(step: int) -> Callable[[str], None]:
    left = [step]

    def hook(reached: str) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook

"""The same answers give the same commits, whatever the timing, the number of jobs and the kills.

Thirty plans are played by `make crash`; here are a few of them, small ones.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.lane_kills import suffer
from support.lane_plans import PlanSite, make_plan

from tilth.model.messages import Role

MOST = 5


def shuffled(seed: int) -> Callable[[int, Role], None]:
    """Give answers in another order every time: each waits a moment of its own."""
    chance = random.Random(seed)
    return lambda number, role: time.sleep(chance.random() * 0.02)


@pytest.mark.parametrize("seed", [0, 5])
def test_the_commits_are_the_same_for_any_number_of_jobs(seed: int, tmp_path: Path) -> None:
    site = PlanSite(tmp_path, make_plan(seed, MOST))
    first, *others = (site.run(jobs, shuffled(seed + jobs)) for jobs in (2, 3, 5))
    for other in others:
        assert other.commits == first.commits
        assert other.ended == first.ended


def test_the_commits_are_the_same_after_kills_at_any_step(tmp_path: Path) -> None:
    site = PlanSite(tmp_path, make_plan(3, MOST))
    calm = site.run(2)
    again, kills = suffer(site, calm, random.Random(3), jobs=3)
    assert kills > 0
    assert again.commits == calm.commits
    assert again.ended == calm.ended

"""A kill at every step that only lanes take, and one resume that puts it right."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path

import pytest
from support.crash_stage import die_at, fork, reap
from support.lane_plans import MadePlan, Outcome, PlanSite, Ways

# Two that change the same line, one that fails for good, one that stands on the second.
PLAN = MadePlan(
    seed=0,
    tasks=(Ways(1, line=2), Ways(2, line=2), Ways(3, fails=True), Ways(4, depends_on=(2,))),
    on_exhausted="skip",
)
PLACES = {
    "after adding a lane": (4,),
    "before moving the branch": (3,),
    "after moving the branch": (2,),
    "before refusing a landing": (1,),
    "after refusing a landing": (1,),
    "after merging what has landed": (1,),
    "before keeping work aside": (1,),
    "after keeping work aside": (1,),
}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    outcome = PlanSite(tmp_path_factory.mktemp("calm"), PLAN).run(3)
    assert outcome.ended == ("T-001 done", "T-002 done", "T-003 failed", "T-004 done")
    return outcome


@pytest.mark.parametrize(("place", "nth"), [(p, n) for p, all_n in PLACES.items() for n in all_n])
def test_one_resume_comes_to_the_same_commits(
    calm: Outcome, tmp_path: Path, place: str, nth: int
) -> None:
    site = PlanSite(tmp_path, PLAN)
    assert reap(fork(partial(_run, site), die_at(place, nth))) == -signal.SIGKILL
    [session] = [path for path in site.site.sessions.iterdir() if path.name[0] != "."]
    again = site.go_on(session.name, 3)
    assert again.commits == calm.commits
    assert again.ended == calm.ended


def _run(site: PlanSite) -> int:
    site.run(3)
    return 0

"""A kill at every step that changes state, and one resume that puts it right: one test a step."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.crash_stage import Stage, die_at, record_places

# Each place, and at which of its arrivals a run is killed there: the first and the last.
PLACES = {
    "before replacing checkpoint.json": (1, 3),
    "after replacing checkpoint.json": (1, 3),
    "before replacing prd.json": (1, 6),
    "after replacing prd.json": (1, 6),
    "before the session appears": (1,),
    "after the session appeared": (1,),
    "after starting the branch": (1,),
    "after adding the worktree": (1,),
    "before keeping what is carried": (1,),
    "after keeping what is carried": (1,),
    "before moving the branch": (1, 2),
    "after moving the branch": (1, 2),
    "before checking out the seed": (1,),
    "before putting a file in its place": (1, 2),
    "after putting a file in its place": (1, 2),
    "before appending to T-001.jsonl": (1, 2),
    "after appending to T-001.jsonl": (1, 2),
    "before replacing progress.txt": (1,),
    "after replacing progress.txt": (1,),
    "before replacing summary.json": (1,),
    "after replacing summary.json": (1,),
    "before replacing report.md": (1,),
    "after replacing report.md": (1,),
    "before replacing .reserve": (1,),
    "after replacing .reserve": (1,),
}
# The log is appended to all the time: every fifth event stands for its neighbours.
STRIDE = 5
EVENTS = tuple(range(1, 37, STRIDE))
LOG = {f"{when} appending to events.jsonl": EVENTS for when in ("before", "after")}
STEPS = [(place, nth) for place, arrivals in {**PLACES, **LOG}.items() for nth in arrivals]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Counter[str]]:
    """Give the tree of a run nobody disturbed, and how often each place was reached."""
    root = tmp_path_factory.mktemp("undisturbed")
    stage = Stage(root, tasks=1)
    with stage.server:
        assert stage.begin(record_places(root / "places")) == 0
    stage.check()
    return stage.tree(), Counter((root / "places").read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(("place", "nth"), STEPS)
def test_a_kill_leaves_a_session_that_one_resume_finishes(
    undisturbed: tuple[str, Counter[str]], tmp_path: Path, place: str, nth: int
) -> None:
    tree, _ = undisturbed
    stage = Stage(tmp_path, tasks=1)
    with stage.server:
        assert stage.begin(die_at(place, nth)) == -9
        before = stage.acknowledged()
        assert stage.go_on() == 0
    assert stage.acknowledged()[: len(before)] == before
    stage.check(tree)


def test_every_place_that_a_run_reaches_is_killed_at_its_first_and_last_arrival(
    undisturbed: tuple[str, Counter[str]],
) -> None:
    _, reached = undisturbed
    last = {place: arrivals[-1] for place, arrivals in PLACES.items()}
    assert {place: times for place, times in reached.items() if place not in LOG} == last
    for place in LOG:
        assert 0 <= reached[place] - EVENTS[-1] < STRIDE

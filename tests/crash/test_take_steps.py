"""A kill at every step of a take: the branch is before or after, and the same command finishes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crash_stage import die_at, fork, reap, record_places
from support.flow_site import Run, Site, git
from support.take_site import bring, copied, make, run_partly

# Each place, and at which of its arrivals a take is killed there.
PLACES = {
    "before replacing take.json": 1,
    "after replacing take.json": 1,
    "before moving the target": 1,
    "after moving the target": 1,
    "after the checkout followed": 1,
    "before recording the take": 1,
    "before appending to events.jsonl": 1,
    "after appending to events.jsonl": 1,
    "before replacing checkpoint.json": 1,
    "after replacing checkpoint.json": 1,
    "before replacing summary.json": 1,
    "after replacing summary.json": 1,
}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = make(tmp_path_factory.mktemp("original"))
    run_partly(site)
    return site


@pytest.fixture(scope="module")
def undisturbed(original: Site, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """Give the branch after a take nobody disturbed, and the places it reached."""
    root = tmp_path_factory.mktemp("undisturbed")
    run = copied(original, root)
    places = root / "places"
    assert reap(fork(lambda: bring(run.site), record_places(places))) == 0
    reached = places.read_text(encoding="utf-8").splitlines()
    return git(run.site.repo, "rev-parse", "main"), reached


def test_every_place_that_a_take_reaches_is_killed_at(undisturbed: tuple[str, list[str]]) -> None:
    _, reached = undisturbed
    assert {place: reached.count(place) for place in reached} == PLACES


@pytest.mark.parametrize("place", PLACES)
def test_a_kill_leaves_the_branch_before_or_after_and_the_same_take_finishes(
    original: Site, undisturbed: tuple[str, list[str]], tmp_path: Path, place: str
) -> None:
    after, _ = undisturbed
    run = copied(original, tmp_path)
    repo = run.site.repo
    before = git(repo, "rev-parse", "main")
    assert reap(fork(lambda: bring(run.site), die_at(place, 1))) == -9
    assert git(repo, "rev-parse", "main") in (before, after)
    assert bring(run.site) == 0
    _check(run, after)


def _check(run: Run, after: str) -> None:
    repo = run.site.repo
    assert git(repo, "rev-parse", "main") == after
    assert git(repo, "status", "--porcelain") == ""
    assert [event["tasks"] for event in run.of("taken")] == [["T-001", "T-003"]]
    assert run.checkpoint["taken"] == ["T-001", "T-003"]
    assert not (run.session / "take.json").exists()
    assert [event["seq"] for event in run.events] == list(range(1, len(run.events) + 1))

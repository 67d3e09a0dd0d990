"""A kill at every step that changes state, and one resume that puts it right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from theatre import Stage, die_at, record_places


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Counter[str]]:
    """Give the tree of a run nobody disturbed, and how often each place was reached."""
    root = tmp_path_factory.mktemp("undisturbed")
    stage = Stage(root, tasks=1)
    with stage.server:
        assert stage.begin(record_places(root / "places")) == 0
    stage.check()
    return stage.tree(), Counter((root / "places").read_text(encoding="utf-8").splitlines())


def chosen(name: str, times: int) -> list[int]:
    """Give the arrivals at a place that are worth a kill of their own."""
    if "events.jsonl" in name:
        return list(range(1, times + 1, 5))
    return sorted({1, times})


def test_a_kill_at_any_step_leaves_a_session_that_one_resume_finishes(
    undisturbed: tuple[str, Counter[str]], tmp_path: Path
) -> None:
    tree, places = undisturbed
    kills = 0
    for name, times in sorted(places.items()):
        for nth in chosen(name, times):
            stage = Stage(tmp_path / f"{kills}", tasks=1)
            with stage.server:
                assert stage.begin(die_at(name, nth)) == -9, (name, nth)
                before = stage.acknowledged()
                assert stage.go_on() == 0, (name, nth)
            assert stage.acknowledged()[: len(before)] == before, (name, nth)
            stage.check(tree)
            kills += 1
    assert kills >= 40


def test_the_places_cover_store_session_and_git(
    undisturbed: tuple[str, Counter[str]],
) -> None:
    places = set(undisturbed[1])
    assert {
        "before appending to events.jsonl",
        "after appending to events.jsonl",
        "after appending to T-001.jsonl",
        "before replacing prd.json",
        "after replacing prd.json",
        "after replacing checkpoint.json",
        "after replacing progress.txt",
        "before the session appears",
        "after the session appeared",
        "after starting the branch",
        "after adding the worktree",
        "before moving the branch",
        "after moving the branch",
    } <= places

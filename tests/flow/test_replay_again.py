"""Sessions of every kind, played again with their recorded answers and real tools."""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import crash_stage
from support.flow_site import Site, accept, git, reject, solve, submit, task, write
from support.light_gate import light_site
from support.messages_api import call, say
from support.replays import Stage, belongings, copy, play, rewrite, say_of, standings


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    # Trees need no pytest to be compared.
    made = Stage(light_site(tmp_path))
    with made.server:
        yield made


def test_a_replay_leaves_repository_and_session_as_they_were(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stage.run(stage.site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    before = belongings(stage.site)
    # A temporary directory of its own: others replay beside this test.
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    assert standings(play(stage.site)) == {"T-001": "equal"}
    assert belongings(stage.site) == before
    assert os.listdir(tmp_path / "temporary") == []


def test_the_command_plays_it_in_a_sandbox(stage: Stage) -> None:
    worker = [call("bash", command="git log --oneline"), solve(1) + submit(1)]
    run = stage.run(stage.site.bundle(1), worker=worker, evaluator=[accept()])
    code, said = say_of(stage.site, verify_only=False)
    assert code == 0, said
    commit = git(stage.site.repo, "rev-parse", run.branch)
    tree = git(stage.site.repo, "rev-parse", f"{run.branch}^{{tree}}")
    assert f"T-001: equal, tree {tree[:12]} of commit {commit[:12]}" in said
    assert "fatal" not in said


def test_a_task_that_failed_and_was_retried_has_both_its_attempts(stage: Stage) -> None:
    stage.run(
        stage.site.bundle(1),
        worker=[write("notes.txt", "half\n"), call("bash", command="ls")],
        TILTH_MAX_ITERATIONS_PER_TASK="2",
    )
    stage.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert standings(play(stage.site)) == {"T-001": "equal"}


def test_a_session_that_ended_in_a_failure_is_compared_by_its_failed_commit(stage: Stage) -> None:
    run = stage.run(stage.site.bundle(1), worker=[solve(1), say("Done."), say("Yes."), say("Bye.")])
    assert run.code == 1
    played = play(stage.site)
    assert standings(played) == {"T-001": "equal"}
    assert played.tasks[0].recorded is not None
    assert played.tasks[0].recorded.kind == "failed"


def test_settings_changed_at_a_resume_are_the_ones_it_is_played_with(stage: Stage) -> None:
    looks = [call("bash", command=f"echo {n}") for n in range(4)]
    first = {"TILTH_MAX_TOKENS": "30", "TILTH_MAX_ITERATIONS_PER_TASK": "3"}
    assert stage.run(stage.site.bundle(1), worker=looks[:2], **first).code == 3
    stage.resume(
        worker=[*looks[2:], solve(1) + submit(1)],
        evaluator=[accept()],
        TILTH_MAX_TOKENS="5000",
        TILTH_MAX_ITERATIONS_PER_TASK="5",
    )
    assert standings(play(stage.site)) == {"T-001": "equal"}


def test_rejections_are_counted_on_over_a_resume_as_they_were(stage: Stage) -> None:
    stage.run(
        stage.site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[reject()],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="2",
    )
    run = stage.resume(worker=[submit(1)], evaluator=[reject("weak_test")])
    assert run.of("task_failed")[0]["reason"] == "evaluator_cap"
    assert standings(play(stage.site)) == {"T-001": "equal"}


def test_work_that_was_set_aside_and_taken_up_again_comes_out_equal(stage: Stage) -> None:
    stage.run(
        stage.site.bundle(1, 2),
        worker=[write("notes.txt", "half\n"), solve(2) + submit(2)],
        evaluator=[accept()],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        TILTH_ON_EXHAUSTED="skip",
    )
    stage.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert standings(play(stage.site)) == {"T-001": "equal", "T-002": "equal"}


def test_a_forced_accept_comes_out_equal(stage: Stage) -> None:
    run = stage.run(
        stage.site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[reject()],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1",
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.code == 4
    assert standings(play(stage.site)) == {"T-001": "equal"}


def test_a_session_without_evaluator_comes_out_equal(stage: Stage) -> None:
    stage.run(stage.site.bundle(1), worker=[solve(1) + submit(1)], TILTH_EVALUATE="off")
    assert standings(play(stage.site)) == {"T-001": "equal"}


def test_a_fresh_start_and_a_lost_worktree_are_played_as_they_were(stage: Stage) -> None:
    stage.run(stage.site.bundle(1), worker=[write("one.txt", "1\n")])
    stage.resume(worker=[write("two.txt", "2\n")], fresh=True)
    shutil.rmtree(stage.site.session() / "workspace")
    stage.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])
    tree = git(stage.site.repo, "ls-tree", "--name-only", f"session/{stage.site.session().name}")
    assert "two.txt" not in tree
    assert standings(play(stage.site)) == {"T-001": "equal"}


def test_a_session_stopped_midway_is_played_up_to_there(stage: Stage) -> None:
    run = stage.run(
        stage.site.bundle(1, 2), worker=[solve(1) + submit(1), solve(2)], evaluator=[accept()]
    )
    assert run.code == 5
    assert standings(play(stage.site)) == {"T-001": "equal", "T-002": "unfinished"}


def killed_after(appends: int) -> Callable[[str], None]:
    left = [appends]

    def hook(reached: str) -> None:
        left[0] -= reached == "after appending to events.jsonl"
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def test_a_session_that_was_killed_again_and_again_comes_out_equal(tmp_path: Path) -> None:
    stage = crash_stage.Stage(tmp_path, tasks=2)
    with stage.server:
        for appends in (7, 5, 9, 6, 11, 4, 8):
            assert stage.go_on(killed_after(appends)) == -signal.SIGKILL
        assert stage.go_on() == 0
    code, said = say_of(stage.site)
    assert code == 0, said
    played = play(stage.site)
    assert standings(played) == {"T-001": "equal", "T-002": "equal"}
    assert [task.divergence for task in played.tasks] == [None, None]


def test_an_interrupted_call_is_not_run_again_and_a_difference_says_so(
    stage: Stage, tmp_path: Path
) -> None:
    worker = [call("bash", command="echo x > trace.txt"), solve(1) + submit(1)]
    stage.run(stage.site.bundle(1), worker=worker, evaluator=[accept()])
    site = copy(stage.site, tmp_path / "copy")

    def interrupt(line: dict[str, Any]) -> None:
        if line["type"] == "tool_result" and line["payload"]["name"] == "bash":
            line["payload"]["interrupted"] = True

    rewrite(site, interrupt)
    played = play(site)
    assert standings(played) == {"T-001": "differs"}
    assert played.tasks[0].interrupted == 1
    assert "trace.txt" in played.diffs["T-001"]


def spoiled(stage: Stage, tmp_path: Path, spoil: Callable[[dict[str, Any]], None]) -> Site:
    run = stage.run(
        stage.site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[reject(), accept()],
    )
    assert run.code == 0
    site = copy(stage.site, tmp_path / "copy")
    rewrite(site, spoil)
    return site


def test_a_changed_answer_ends_in_another_tree_with_the_first_divergence(
    stage: Stage, tmp_path: Path
) -> None:
    def spoil(line: dict[str, Any]) -> None:
        text = json.dumps(line["payload"])
        line["payload"] = json.loads(text.replace("return x + 1", "return 1 + x"))

    site = spoiled(stage, tmp_path, spoil)
    code, said = say_of(site, verify_only=False)
    assert code == 1
    assert "T-001: differs, recorded tree" in said
    assert "first divergence: event" in said
    assert "+    return 1 + x" in said


def test_a_verdict_that_its_answer_does_not_bear_out_is_found(stage: Stage, tmp_path: Path) -> None:
    def spoil(line: dict[str, Any]) -> None:
        if line["type"] == "model_call" and line["payload"]["role"] == "evaluator":
            text = json.dumps(line["payload"]["content"])
            line["payload"]["content"] = json.loads(
                text.replace('"accept"', '"reject"').replace("null", '"weak_test"')
            )

    played = play(spoiled(stage, tmp_path, spoil))
    assert standings(played) == {"T-001": "missing"}
    assert "recorded verdict accept, played again" in (played.tasks[0].divergence or "")


def test_a_commit_with_another_tree_than_the_log_says_is_found(
    stage: Stage, tmp_path: Path
) -> None:
    def spoil(line: dict[str, Any]) -> None:
        if line["type"] == "commit":
            line["payload"]["commit"] = git(stage.site.repo, "rev-parse", "main")

    played = play(spoiled(stage, tmp_path, spoil))
    assert standings(played) == {"T-001": "differs"}
    assert "git has tree" in (played.tasks[0].divergence or "")


def test_a_branch_that_is_gone_is_no_obstacle(stage: Stage) -> None:
    stage.run(stage.site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    branch = f"session/{stage.site.session().name}"
    made = int(git(stage.site.repo, "log", "-1", "--format=%ct", branch))
    shutil.rmtree(stage.site.session() / "workspace")
    git(stage.site.repo, "worktree", "prune")
    git(stage.site.repo, "branch", "--delete", "--force", branch)
    git(stage.site.repo, "reflog", "expire", "--expire=now", "--all")
    git(stage.site.repo, "gc", "--quiet", "--prune=now")
    # In the same second it would make the very commit that is gone.
    while int(time.time()) <= made:
        time.sleep(0.01)
    played = play(stage.site)
    assert standings(played) == {"T-001": "equal"}
    assert "is gone from the repository" in played.notes[0]


def test_a_dependent_task_that_came_as_done_stays_done(stage: Stage) -> None:
    stories = {
        "userStories": [
            {
                "id": f"US-{n}",
                "title": f"Add feature {n}",
                "description": "It adds.",
                "acceptanceCriteria": ["it adds"],
                "priority": n,
                "passes": n == 1,
            }
            for n in (1, 2)
        ]
    }
    target = stage.site.bundle(2, tasks=[task(2)])
    (target / "prd.json").write_text(json.dumps(stories), encoding="utf-8")
    run = stage.run(target, worker=[solve(2) + submit(2)], evaluator=[accept()])
    assert run.code == 0
    assert standings(play(stage.site)) == {"T-002": "equal"}

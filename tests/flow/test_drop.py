"""A task that a person gives up: it ends, nothing of it is lost, and no resume tries it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, accept, git, solve, submit, task, write
from support.lane_stage import LaneStage, Script, plain_tasks
from support.messages_api import Answer, call
from support.replays import play, say_of, standings
from support.words import command

from tilth.base.clock import SystemClock
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.session.inbox import Inbox

# The third stands on the second.
PLAN = [task(1), task(2), task(3, depends_on=["T-002"]), task(4)]
LOOK = call("bash", command="ls")
jobs = pytest.mark.parametrize("jobs", [1, 2])


def stage_of(root: Path, *, say_at: tuple[int, int] | None = None, **more: Any) -> LaneStage:
    """Give a stage whose workers look and solve; a task is dropped at one of its answers."""
    steps = {n: [LOOK, solve(n), submit(n)] for n in (1, 2, 3, 4)}
    script = Script(steps)
    stage = LaneStage(root, script, PLAN, **more)
    seen = dict.fromkeys((1, 2, 3, 4), 0)

    def before(number: int, role: str) -> None:
        seen[number] += role == "worker"
        if (number, seen[number]) == say_at and role == "worker":
            seen[number] += 100
            said = command(stage.site, "drop", "latest", f"T-{number:03d}", "--note", "Bought.")
            assert said.returncode == 0, said.stderr

    script.before = before
    return stage


def dropped(run: Run) -> dict[str, str]:
    return {name: entry["status"] for name, entry in run.tasks.items() if entry["dropped"]}


def kept(run: Run, task_id: str) -> str:
    """Give the subject of the work that was kept of a task."""
    return git(
        run.site.repo, "log", "-1", "--format=%s", f"refs/tilth/{run.session.name}/{task_id}"
    )


def holds_up(run: Run) -> None:
    """Hold a session against its replay."""
    code, said = say_of(run.site)
    assert code == 0, said
    played = play(run.site)
    assert set(standings(played).values()) == {"equal"}, played


@jobs
@pytest.mark.parametrize("policy", ["halt", "skip"])
def test_a_task_under_way_ends_and_the_others_go_on(tmp_path: Path, jobs: int, policy: str) -> None:
    stage = stage_of(tmp_path, say_at=(2, 2), TILTH_ON_EXHAUSTED=policy)
    run = stage.run(jobs)
    assert run.code == 1
    assert {name: entry["status"] for name, entry in run.tasks.items()} == {
        "T-001": "done",
        "T-002": "failed",
        "T-003": "pending",
        "T-004": "done",
    }
    assert dropped(run) == {"T-002": "failed"}
    assert run.subjects == ["T-001: Add feature 1", "T-004: Add feature 4"]
    [failed] = run.of("task_failed")
    assert (failed["reason"], failed["detail"]) == ("dropped", "Bought.")
    assert kept(run, "T-002") == "FAILED (dropped) T-002: Add feature 2"
    assert "feature2.py" in git(run.site.repo, "show", f"refs/tilth/{run.session.name}/T-002")
    assert run.of("stop")[-1]["reason"] == "dropped"
    report = (run.session / "report.md").read_text(encoding="utf-8")
    assert "failed (dropped): Bought" in report
    holds_up(run)

    again = stage.resume(jobs)
    assert again.code == 1
    assert again.of("session_resume")[-1]["retried"] == []
    assert len(again.of("context_reset")) == 3


@jobs
def test_a_reject_brings_it_back_with_its_work(tmp_path: Path, jobs: int) -> None:
    stage = stage_of(tmp_path, say_at=(2, 2))
    run = stage.run(jobs)
    said = command(stage.site, "reject", "latest", "T-002", "Not to be had: write it.")
    assert said.returncode == 0, said.stderr
    assert not dropped(run)
    again = stage.resume(jobs)
    assert again.code == 0
    assert {entry["status"] for entry in again.tasks.values()} == {"done"}
    assert again.of("context_reset")[-2]["set_aside"] == "back"
    holds_up(again)


@jobs
def test_a_task_at_rest_is_dropped_by_the_command(tmp_path: Path, jobs: int) -> None:
    stage = stage_of(tmp_path, TILTH_ON_EXHAUSTED="halt")
    stage.script.steps = {**stage.script.steps, 1: [solve(1), Answer(), Answer(), Answer()]}
    run = stage.run(jobs)
    assert run.tasks["T-001"]["status"] == "failed"
    for name in ("T-001", "T-003"):
        said = command(stage.site, "drop", "latest", name)
        assert said.returncode == 0, said.stderr
        assert f"{name} is dropped" in said.stderr
    assert dropped(run) == {"T-001": "failed", "T-003": "failed"}
    again = stage.resume(jobs)
    assert {name: entry["status"] for name, entry in again.tasks.items()} == {
        "T-001": "failed",
        "T-002": "done",
        "T-003": "failed",
        "T-004": "done",
    }
    assert kept(again, "T-001").startswith("FAILED (no_case)")
    assert again.subjects == ["T-002: Add feature 2", "T-004: Add feature 4"]
    holds_up(again)


@jobs
def test_a_task_cut_off_in_the_middle_is_dropped_at_rest_with_its_work(
    tmp_path: Path, jobs: int
) -> None:
    stage = stage_of(tmp_path)
    stage.script.steps = {**stage.script.steps, 2: [write("half.py", "HALF = 1\n"), LOOK]}
    asked = [0]

    def before(number: int, role: str) -> None:
        asked[0] += number == 2
        if asked[0] == 2:
            Inbox(stage.site.session()).put(OperatorWord(id="a", verb=Verb.STOP), SystemClock())

    stage.script.before = before
    run = stage.run(jobs)
    assert run.code == 130
    assert run.tasks["T-002"]["status"] == "in_progress"
    stage.script.before = lambda number, role: None
    said = command(stage.site, "drop", "latest", "T-002", "--note", "Enough.")
    assert said.returncode == 0, said.stderr
    assert run.tasks["T-002"]["status"] == "failed"
    assert kept(run, "T-002") == "FAILED (dropped) T-002: Add feature 2"
    assert "half.py" in git(run.site.repo, "show", f"refs/tilth/{run.session.name}/T-002")
    again = stage.resume(jobs)
    assert again.subjects == ["T-001: Add feature 1", "T-004: Add feature 4"]
    assert "half.py" not in git(run.site.repo, "ls-tree", "--name-only", run.branch)
    holds_up(again)


@jobs
def test_what_is_dropped_while_it_is_reviewed_does_not_land(tmp_path: Path, jobs: int) -> None:
    stage = stage_of(tmp_path)
    judge = stage.script.judge

    def dropping(number: int, message: str) -> Any:
        if number == 2:
            assert command(stage.site, "drop", "latest", "T-002").returncode == 0
        return judge(number, message)

    stage.script.judge = dropping
    run = stage.run(jobs)
    assert run.tasks["T-002"]["status"] == "failed"
    assert run.subjects == ["T-001: Add feature 1", "T-004: Add feature 4"]
    assert [entry["verdict"] for entry in run.ledger(2)] == ["accept"]
    holds_up(run)


def test_what_is_accepted_and_waits_to_land_can_be_dropped(tmp_path: Path) -> None:
    plan = plain_tasks(1, 2)
    steps = {n: [LOOK, solve(n), submit(n)] for n in (1, 2)}
    stage = LaneStage(tmp_path, Script(steps), plan)

    def before(number: int, role: str) -> None:
        # The first goes on once the second waits behind it, and has been given up.
        if (number, role) == (1, "evaluator"):
            stage.status("T-002")
            while stage.status("T-002") != "accepted":
                pass
            assert command(stage.site, "drop", "latest", "T-002").returncode == 0

    stage.script.before = before
    stage.script.judge = lambda number, message: accept(score=90)
    run = stage.run(2)
    assert {name: entry["status"] for name, entry in run.tasks.items()} == {
        "T-001": "done",
        "T-002": "failed",
    }
    assert run.subjects == ["T-001: Add feature 1"]
    assert kept(run, "T-002") == "FAILED (dropped) T-002: Add feature 2"
    holds_up(run)


def test_what_makes_no_sense_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, say_at=(2, 2))
    run = stage.run(1)
    log = (run.session / "events.jsonl").read_bytes()
    for name, why in (("T-001", "is done"), ("T-002", "dropped already"), ("T-009", "no task")):
        said = command(stage.site, "drop", "latest", name)
        assert said.returncode == 2
        assert why in said.stderr
    told = command(stage.site, "tell", "latest", "T-002", "hello")
    assert (told.returncode, "is dropped" in told.stderr) == (2, True)
    assert (run.session / "events.jsonl").read_bytes() == log
    plan = json.loads((run.session / "prd.json").read_text(encoding="utf-8"))
    assert [entry["dropped"] for entry in plan["tasks"]] == [False, True, False, False]

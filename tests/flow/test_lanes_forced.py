"""A task that is forced through below the bar, and whose landing is refused all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Run, accept, git, reject, submit, write
from support.lane_stage import LaneStage, Meeting, Script, plain_tasks
from support.light_gate import LIGHT
from support.messages_api import Answer, Reply, error, say
from support.words import command

FILES = {"pyproject.toml": LIGHT, "greeting.txt": "hello\n"}
FORCING = {"TILTH_ON_EXHAUSTED": "accept", "TILTH_MAX_EVALUATOR_CALLS_PER_TASK": "1"}
BOTH = "good morning, world\n"


def case(number: int) -> Answer:
    return submit(number, ac_coverage=[{"criterion": "1", "addressed_by": "greeting.txt"}])


def collide(root: Path, *second: Answer) -> tuple[LaneStage, Script]:
    """Have two tasks change one line; the second is rejected until it holds what both wanted."""
    meeting = Meeting(1, 2)
    steps = {
        1: [write("greeting.txt", "hello, world\n"), case(1)],
        2: [write("greeting.txt", "good morning\n"), case(2), *second],
    }
    script = Script(steps, before=lambda number, role: meeting.come(number))
    script.judge = lambda number, opening: verdict(number, opening)
    return LaneStage(root, script, plain_tasks(1, 2), FILES, **FORCING), script


def verdict(number: int, opening: str) -> Reply:
    return accept(score=90) if number == 1 or BOTH in opening else reject(score=30)


@pytest.fixture(scope="module")
def mended(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Mend what was in conflict; the endpoint is lost in the middle of the second review."""
    root = tmp_path_factory.mktemp("mended")
    stage, script = collide(root, write("greeting.txt", BOTH), case(2))
    lost = [True]

    def judge(number: int, opening: str) -> Reply:
        if BOTH in opening and lost:
            lost.clear()
            return error(401, "no such key", "authentication_error")
        return verdict(number, opening)

    script.judge = judge
    with stage.served():
        assert stage.run(2).code == 5
        return stage.resume(2)


def test_what_was_forced_and_refused_is_judged_like_any_other(mended: Run) -> None:
    assert mended.of("landing_refused")[0]["cause"] == "conflict"
    assert [entry["verdict"] for entry in mended.ledger(2)] == ["reject", "accept"]
    message = git(mended.site.repo, "log", "-1", "--format=%B", mended.branch)
    assert "Tilth-Verdict: accept" in message
    assert "Tilth-Quality" not in message


def test_what_was_forced_and_then_accepted_is_not_below_the_bar(mended: Run) -> None:
    assert mended.code == 0
    assert mended.tasks["T-002"].get("quality_flag") is None
    assert len(mended.of("task_force_accepted")) == 1
    report = (mended.session / "report.md").read_text(encoding="utf-8")
    assert "below the bar" not in report


def test_what_is_rejected_once_more_lands_below_the_bar_and_keeps_the_others_work(
    tmp_path: Path,
) -> None:
    stage, _ = collide(tmp_path, write("greeting.txt", "good day, world\n"), case(2))
    run = stage.run(2)
    assert run.code == 4
    assert [subject.partition(":")[0] for subject in run.subjects] == ["T-001", "T-002"]
    assert git(run.site.repo, "show", f"{run.branch}:greeting.txt") == "good day, world"
    assert "below-bar" in git(run.site.repo, "log", "-1", "--format=%B", run.branch)


def test_what_cannot_be_settled_fails_and_no_accept_undoes_the_others_work(tmp_path: Path) -> None:
    stage, _ = collide(tmp_path, *[say("I cannot.")] * 3)
    run = stage.run(2)
    assert run.code == 1
    assert run.tasks["T-002"]["status"] == "failed"
    assert [subject.partition(":")[0] for subject in run.subjects] == ["T-001"]
    kept = git(run.site.repo, "show", f"refs/tilth/{run.session.name}/T-002:greeting.txt")
    assert "good morning" in kept
    refused = command(run.site, "accept", "latest", "T-002")
    assert refused.returncode == 2
    assert "no longer fits: conflict in greeting.txt" in refused.stderr
    assert git(run.site.repo, "show", f"{run.branch}:greeting.txt") == "hello, world"

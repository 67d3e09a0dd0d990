"""A kill at every step of giving a task up: no work is lost, and one resume carries it through."""

from __future__ import annotations

import contextlib
import io
import signal
from pathlib import Path
from typing import Any

import pytest
from support.crash_stage import Stage, answer, die_after, die_at, fork, reap
from support.flow_site import Run, Site, git
from support.messages_api import Reply, Request
from support.replays import play, say_of, standings
from support.words import UNREACHED, words_in

from tilth.contract.operator_word import Verb
from tilth.session.speaking import Draft
from tilth.show.words import say_word

STEPS = (
    "before recording a word",
    "after recording a word",
    "before keeping work aside",
    "after keeping work aside",
    "after giving a task up",
    "after telling that a task is given up",
)
INBOX = ("before removing a word", "after removing a word")


def drop(site: Site) -> int:
    with contextlib.redirect_stderr(io.StringIO()):
        return say_word("latest", Draft(Verb.DROP, task="T-001"), environ=site.environ(UNREACHED))


def dropping(sites: list[Site]) -> object:
    """Answer as ever; the first task is dropped while its worker's second call is under way."""
    asked = [0]

    def script(request: Request) -> Reply:
        opening = request.body["messages"][0]["content"][0]["text"]
        if request.role == "worker" and "# Your task: T-001" in opening:
            asked[0] += 1
        if asked[0] == 2:
            asked[0] += 1
            assert drop(sites[0]) == 0
        return answer(request)

    return script


def check(stage: Stage) -> None:
    """Hold a session against what it must be once its first task was given up."""
    run = Run(stage.site, 0, ())
    assert {name: entry["status"] for name, entry in run.tasks.items()} == {
        "T-001": "failed",
        "T-002": "done",
    }
    assert [entry["dropped"] for entry in run.tasks.values()] == [True, False]
    assert run.subjects == ["seed: 2 task(s), 2 test(s)", "T-002: Add feature 2"]
    assert [word["verb"] for word in run.of("operator_word")] == ["drop"]
    assert [failed["reason"] for failed in run.of("task_failed")] == ["dropped"]
    ref = f"refs/tilth/{run.session.name}/T-001"
    assert git(stage.site.repo, "log", "-1", "--format=%s", ref).startswith("FAILED (dropped)")
    assert "feature1.py" in git(stage.site.repo, "ls-tree", "--name-only", ref)
    assert len([one for one in run.of("commit") if one["kind"] == "failed"]) == 1
    assert (run.session / "progress.txt").read_text("utf-8").count("T-001 dropped") == 1
    assert not words_in(run.session)
    code, said = say_of(stage.site)
    assert code == 0, said
    played = play(stage.site)
    assert set(standings(played).values()) == {"equal"}, played


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("step", [*STEPS, *INBOX])
def test_a_task_under_way_that_is_dropped(tmp_path: Path, step: str, jobs: str) -> None:
    sites: list[Site] = []
    stage = Stage(tmp_path, script=dropping(sites), TILTH_JOBS=jobs)
    sites.append(stage.site)
    with stage.server:
        assert stage.begin(die_at(step, 1)) == -signal.SIGKILL
        assert stage.go_on() == 1
    check(stage)


def written(event: dict[str, Any]) -> str:
    """Name the task that has written a file."""
    name = event["payload"].get("name") if event["type"] == "tool_result" else None
    return str(event["task_id"]) if name == "write_file" else ""


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("step", STEPS)
def test_a_task_cut_off_that_is_dropped_at_rest(tmp_path: Path, step: str, jobs: str) -> None:
    stage = Stage(tmp_path, TILTH_JOBS=jobs)
    with stage.server:
        cut_off = die_after(lambda: stage.log, written, "T-001", 1)
        assert stage.begin(cut_off) == -signal.SIGKILL
        assert reap(fork(lambda: drop(stage.site), die_at(step, 1))) == -signal.SIGKILL
        if step == "before recording a word":
            assert drop(stage.site) == 0
        assert stage.go_on() == 1
    check(stage)

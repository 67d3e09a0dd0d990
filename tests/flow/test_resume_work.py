"""What a resume finds: work that failed, a start or an end that was cut short."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.commands import start
from support.crash_stage import Stage, die_at
from support.flow_site import Run, Site, accept, git, solve, submit
from support.interviews import Person, ask, sit, write_seed
from support.light_gate import light_site, whole_gate
from support.messages_api import MessagesServer, by_role

from tilth.base.clock import SystemClock
from tilth.base.errors import UserError
from tilth.config.secrets import Mask
from tilth.session.session import Session, SessionStatus


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return light_site(tmp_path, request)


def test_failed_work_survives_a_resume_that_ends_before_the_task_begins(site: Site) -> None:
    first = site.run(site.bundle(1), worker=[solve(1)], TILTH_MAX_ITERATIONS_PER_TASK="1")
    failed = git(site.repo, "rev-parse", first.branch)
    second = site.resume(TILTH_MAX_TOKENS="10")
    assert (second.code, second.of("stop")[-1]["reason"]) == (3, "token_cap")
    assert second.of("session_resume")[-1]["unwound_commit"] == failed
    third = site.resume(worker=[submit(1)], evaluator=[accept()])
    assert third.code == 0
    assert third.subjects[1:] == ["T-001: Add feature 1"]
    assert third.of("context_reset")[-1]["set_aside"] == "back"


def test_failed_work_is_not_mixed_into_a_task_that_comes_first(site: Site) -> None:
    site.settings["TILTH_MAX_ITERATIONS_PER_TASK"] = "1"
    first = site.run(site.bundle(1, 2), worker=[solve(1)], TILTH_ON_EXHAUSTED="skip")
    assert first.code == 5
    second = site.resume(worker=[solve(2)])
    assert second.subjects[1:] == ["FAILED (iter_cap) T-002: Add feature 2"]
    third = site.resume(worker=[submit(1), submit(2)], evaluator=[accept(), accept()])
    assert third.code == 0
    commits = [payload["commit"] for payload in third.of("commit")[-2:]]
    changed = [git(site.repo, "show", "--format=", "--name-only", commit) for commit in commits]
    assert changed == ["feature1.py", "feature2.py"]


def test_the_last_screen_of_a_resume_tells_of_the_whole_session(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    first = site.run(site.bundle(1), worker=[solve(1)], TILTH_MAX_ITERATIONS_PER_TASK="1")
    assert "15/2M tokens" in capsys.readouterr().out
    site.resume(worker=[submit(1)], evaluator=[accept()])
    assert first.checkpoint["usage"]["worker"]["calls"] == 2
    assert "45/2M tokens" in capsys.readouterr().out


@whole_gate
def test_a_prepared_session_that_was_killed_at_its_start_can_be_resumed(site: Site) -> None:
    left = sit(site, [write_seed(1)])
    name = left.session.name
    session = Session.open_locked(site.sessions, name, clock=SystemClock(), mask=Mask())
    session.save_checkpoint(SessionStatus.RUNNING)
    session.release()
    assert site.resume(worker=[solve(1) + submit(1)], evaluator=[accept()]).code == 0


def test_an_interview_is_taken_up_when_no_session_has_begun(site: Site) -> None:
    sit(site, [ask("Which?")], person=Person(leaves_at=0))
    with pytest.raises(UserError, match="there is no terminal"):
        site.resume()


def test_a_run_killed_after_its_last_task_is_closed_by_a_resume(tmp_path: Path) -> None:
    script = by_role(worker=[solve(1) + submit(1)], evaluator=[accept()])
    stage = Stage(tmp_path, tasks=1, script=script)
    with stage.server:
        assert stage.begin(die_at("after replacing progress.txt", 1)) == -9
        assert stage.site.resume(server=stage.server).code == 0
    run = Run(stage.site, 0, ())
    assert (run.of("stop")[-1]["reason"], run.checkpoint["status"]) == ("all_done", "done")
    assert run.types.count("task_done") == 1
    assert (run.session / "summary.json").exists()


def test_a_task_landed_without_an_evaluator_keeps_its_summary_over_a_kill(tmp_path: Path) -> None:
    script = by_role(worker=[solve(1) + submit(1, learnings=["The adders stand alone."])])
    stage = Stage(tmp_path, tasks=1, script=script, TILTH_EVALUATE="off")
    with stage.server:
        assert stage.begin(die_at("after moving the branch", 2)) == -9
        assert stage.go_on() == 0
    run = Run(stage.site, 0, ())
    assert run.tasks["T-001"]["summary"] == "Added add1."
    learnings = (run.session / "proposed-learnings.md").read_text(encoding="utf-8")
    assert "The adders stand alone." in learnings


@whole_gate
def test_a_case_that_no_longer_passes_after_a_stop_is_worked_on_again(site: Site) -> None:
    with MessagesServer(by_role(worker=[solve(1) + submit(1)])) as server:
        environ = site.environ(server.url)
        assert start(site.bundle(1), site.repo, {}, new=True, environ=environ) == 5
        run = Run(site, 5, ())
        assert run.tasks["T-001"]["status"] == "pending_eval"
        (run.session / "workspace" / "feature1.py").write_text("add1 = None\n", encoding="utf-8")
        assert site.resume(server=server).code == 5
    assert run.tasks["T-001"]["status"] == "in_progress"
    assert run.tasks["T-001"]["rescue_count"] == 0


@whole_gate
def test_every_directory_of_a_session_is_private(site: Site) -> None:
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    found = [path for path in run.session.iterdir() if path.is_dir()]
    assert {path.name for path in found} == {"workspace", "ledger", "seed-tests", "carried"}
    assert {os.stat(path).st_mode & 0o777 for path in [run.session, *found]} == {0o700}

"""A branch that somebody else moves while a task is worked on: stopped, nothing overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Site, accept, git, solve, submit
from support.messages_api import Answer, call

from tilth.base.errors import CorruptSession
from tilth.show.overview import welcome

# Whoever it is: a person in another terminal, or a worker without a sandbox.
MOVE = (
    "cd {repo} && branch=$(git for-each-ref --format='%(refname)' refs/heads/session) && "
    "theirs=$(git -c user.name=A -c user.email=a@b.c commit-tree -p $branch -m theirs "
    "$branch^{{tree}}) && git update-ref $branch $theirs"
)


def move(site: Site) -> Answer:
    return call("bash", command=MOVE.format(repo=site.repo))


@pytest.mark.parametrize("ending", ["done", "failed"])
def test_the_run_stops_and_goes_on_once_it_is_moved_back(tmp_path: Path, ending: str) -> None:
    site = Site.make(tmp_path)
    last = submit(1) if ending == "done" else Answer()
    limit = {} if ending == "done" else {"TILTH_MAX_ITERATIONS_PER_TASK": "1"}

    run = site.run(
        site.bundle(1), worker=[solve(1) + move(site) + last], evaluator=[accept()], **limit
    )

    assert run.code == 2
    (stop,) = run.of("stop")
    assert stop["reason"] == "error"
    assert "was moved by somebody else" in stop["detail"]
    assert git(site.repo, "log", "-1", "--format=%s", run.branch) == "theirs"
    assert run.tasks["T-001"]["status"] != "done"
    assert run.of("commit") == []

    before = git(site.repo, "rev-parse", f"{run.branch}^")
    assert site.resume(worker=[]).code == 2
    git(site.repo, "update-ref", f"refs/heads/{run.branch}", before)
    resumed = site.resume(worker=[solve(1) + submit(1)], evaluator=[accept()])

    assert resumed.code == 0
    assert resumed.subjects == ["seed: 1 task(s), 1 test(s)", "T-001: Add feature 1"]


def test_the_command_that_puts_it_back_is_shown_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = Site.make(tmp_path)
    run = site.run(site.bundle(1), worker=[solve(1) + move(site) + submit(1)], evaluator=[accept()])
    before, theirs = (git(site.repo, "rev-parse", f"{run.branch}{up}") for up in ("^", ""))
    branch = f"refs/heads/{run.branch}"
    cure = f"`git update-ref {branch} {before} {theirs}`, then `tilth resume {run.session.name}`"
    assert cure in flat(capsys.readouterr().out)
    assert cure in (run.session / "report.md").read_text(encoding="utf-8")
    assert welcome(environ={"TILTH_HOME": str(site.root / "home")}) == 0
    assert cure in flat(capsys.readouterr().out)


def flat(said: str) -> str:
    """Undo the wrapping of a screen."""
    return " ".join(said.split())


def test_an_emptied_log_is_said_to_be_lost_and_no_commit_is_advised_away(
    tmp_path: Path,
) -> None:
    site = Site.make(tmp_path)
    run = site.run(site.bundle(1, 2), worker=[solve(1) + submit(1)], evaluator=[accept()])
    tip = git(site.repo, "rev-parse", run.branch)
    log = run.session / "events.jsonl"
    log.write_text("", encoding="utf-8")
    with pytest.raises(CorruptSession, match="the log is empty") as told:
        site.resume(worker=[])
    assert str(log) in str(told.value)
    assert "update-ref" not in str(told.value)
    assert git(site.repo, "rev-parse", run.branch) == tip

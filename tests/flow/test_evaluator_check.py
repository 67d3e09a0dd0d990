"""What a run says of its evaluator: how often it is known to be wrong, in every commit it made."""

from __future__ import annotations

from pathlib import Path

from support.flow_site import Site, accept, git, solve, submit
from support.measurements import measured
from support.messages_api import say

TRAILER = "%(trailers:key=Tilth-Evaluator-Check,valueonly)"
FIGURE = "false accepts 1.4% (95% 0.4% to 4.9%), n=144"


def trailer(site: Site, branch: str) -> str:
    return git(site.repo, "log", "-1", f"--format={TRAILER}", branch)


def test_the_commit_says_how_often_its_evaluator_is_wrong_and_so_does_the_log(
    tmp_path: Path,
) -> None:
    site = Site.make(tmp_path)
    measured(tmp_path / "home", "claude-sonnet-5-5")
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    assert trailer(site, run.branch) == FIGURE
    assert [commit["evaluator_check"] for commit in run.of("commit")] == [FIGURE]


def test_nothing_is_said_of_an_evaluator_that_did_not_rule(tmp_path: Path) -> None:
    site = Site.make(tmp_path)
    measured(tmp_path / "home", "claude-sonnet-5-5")
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[say("Fine."), say("Fine.")],
        TILTH_FAIL_OPEN_ON_UNPARSED="true",
    )
    assert run.code == 0
    assert trailer(site, run.branch) == ""
    assert "evaluator_check" not in run.of("commit")[0]

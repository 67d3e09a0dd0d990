"""Exhaustion: halt, skip and accept, and how clean work is told from work below the bar."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.flow_site import (
    Run,
    Site,
    accept,
    block,
    git,
    reject,
    solution,
    solve,
    submit,
    task,
    write,
)
from support.light_gate import light_site, whole_gate
from support.messages_api import Answer, call, error

BLOCKER = block("Criterion 1 cannot hold.")
AT_FAULT = call("submit_ruling", contract_at_fault=True, reason="It contradicts itself.")
BROKEN = "def add1(x):\n    return x\n"


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return light_site(tmp_path, request)


def summary(run: Run) -> dict[str, object]:
    return json.loads((run.session / "summary.json").read_text(encoding="utf-8"))["tasks"]


def progress(run: Run) -> list[str]:
    return (run.session / "progress.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def forced(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Accept the first of two tasks below the bar, from the iteration cap."""
    site = Site.make(tmp_path_factory.mktemp("site"))
    tasks = [task(1), task(2, depends_on=["T-001"])]
    return site.run(
        site.bundle(1, 2, tasks=tasks),
        worker=[
            solve(1) + submit(1),
            write("feature1.py", BROKEN) + submit(1),
            solve(2) + submit(2),
        ],
        evaluator=[reject(score=40), accept(score=90)],
        TILTH_ITERATION_BONUS_PER_REJECTION="0",
        TILTH_MAX_ITERATIONS_PER_TASK="2",
        TILTH_ON_EXHAUSTED="accept",
    )


def test_the_last_green_tree_lands_even_if_a_later_one_failed_its_validators(forced: Run) -> None:
    assert forced.code == 4
    commit = forced.tasks["T-001"]["commit"]
    assert git(forced.site.repo, "show", f"{commit}:feature1.py") + "\n" == solution(1)
    assert forced.of("task_force_accepted") == [{"score": 40, "reason": "iter_cap"}]


def test_below_the_bar_is_told_from_clean_in_the_plan_the_commit_and_the_events(
    forced: Run,
) -> None:
    flags = {name: entry["quality_flag"] for name, entry in forced.tasks.items()}
    assert flags == {"T-001": "below-bar", "T-002": None}
    trailers = [
        git(forced.site.repo, "log", "-1", "--format=%(trailers)", entry["commit"])
        for entry in forced.tasks.values()
    ]
    assert "Tilth-Verdict: force-accept" in trailers[0]
    assert "Tilth-Quality: below-bar" in trailers[0]
    assert "Tilth-Verdict: accept" in trailers[1]
    assert "Tilth-Quality" not in trailers[1]
    assert [done["below_bar"] for done in forced.of("task_done")] == [True, False]


def test_below_the_bar_is_told_from_clean_in_progress_and_summary(forced: Run) -> None:
    assert progress(forced) == [
        "T-001 done (accepted below the bar, score 40): Add feature 1",
        "T-002 done: Add feature 2",
    ]
    tasks = summary(forced)
    assert [tasks[name]["force_accepted"] for name in tasks] == [True, False]
    assert [tasks[name]["verdict"] for name in tasks] == ["force-accept", "accept"]
    assert tasks["T-001"]["open_concerns"] == 1


def test_a_below_bar_task_is_flagged_to_a_person_who_need_not_answer(forced: Run) -> None:
    (request,) = forced.of("operator_request")
    assert (request["kind"], request["request"]) == ("below_bar", "R-001")
    assert "score 40" in request["text"]
    assert forced.checkpoint["status"] == "done"


def test_a_dependent_is_told_that_its_upstream_is_below_the_bar(forced: Run) -> None:
    prefix = "[ACCEPTED BELOW QUALITY BAR, score 40] T-001 Add feature 1"
    assert prefix in forced.last_user_text("worker", 2)
    assert prefix in forced.last_user_text("evaluator", 1)


def test_a_force_accept_without_a_score_says_unknown(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [task(1), task(2, depends_on=["T-001"])]
    run = site.run(
        site.bundle(1, 2, tasks=tasks),
        worker=[solve(1) + submit(1), solve(2) + submit(2)],
        evaluator=[reject(), accept()],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1",
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.code == 4
    assert "[ACCEPTED BELOW QUALITY BAR, score unknown]" in run.last_user_text("worker", 1)
    assert progress(run)[0] == "T-001 done (accepted below the bar, score unknown): Add feature 1"
    closing = capsys.readouterr().out
    assert "1 done, 1 accepted below the bar" in closing
    assert "T-001: accepted below the bar, score unknown" in closing


@whole_gate
def test_without_a_green_tree_accept_fails_like_halt(site: Site) -> None:
    run = site.run(
        site.bundle(1, 2),
        worker=[write("feature1.py", BROKEN) + submit(1)],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.code == 1
    assert run.tasks["T-001"]["status"] == "failed"
    assert run.of("stop")[0]["reason"] == "iter_cap"


def test_a_worker_that_goes_quiet_is_never_force_accepted(site: Site) -> None:
    quiet = [Answer(blocks=({"type": "text", "text": "Done."},))] * 3
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), *quiet],
        evaluator=[reject()],
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.code == 1
    assert run.of("task_failed")[0]["reason"] == "no_case"


@pytest.mark.parametrize("choice", ["halt", "accept"])
def test_a_confirmed_blocker_stops_the_run_under_halt_and_accept(site: Site, choice: str) -> None:
    run = site.run(
        site.bundle(1, 2), worker=[BLOCKER], evaluator=[AT_FAULT], TILTH_ON_EXHAUSTED=choice
    )
    assert run.code == 6
    assert run.of("stop")[0]["reason"] == "blocked"
    assert run.checkpoint["status"] == "waiting"
    assert run.tasks["T-002"]["status"] == "pending"


def test_under_skip_a_blocked_task_is_passed_over_and_the_run_ends_waiting(site: Site) -> None:
    run = site.run(
        site.bundle(1, 2),
        worker=[BLOCKER, solve(2) + submit(2)],
        evaluator=[AT_FAULT, accept()],
        TILTH_ON_EXHAUSTED="skip",
    )
    assert run.code == 6
    assert run.of("stop")[0]["reason"] == "blocked"
    assert run.tasks["T-002"]["status"] == "done"
    assert run.checkpoint["status"] == "waiting"


def test_an_open_question_outranks_a_failure_that_came_first(site: Site) -> None:
    run = site.run(
        site.bundle(1, 2),
        worker=[solve(1), BLOCKER],
        evaluator=[AT_FAULT],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        TILTH_ON_EXHAUSTED="skip",
    )
    assert run.code == 6
    assert run.of("stop")[0]["reason"] == "iter_cap"
    assert run.checkpoint["status"] == "waiting"


def test_an_endpoint_that_fails_outranks_an_open_question(site: Site) -> None:
    run = site.run(
        site.bundle(1, 2),
        worker=[BLOCKER, error(401, "no")],
        evaluator=[AT_FAULT],
        TILTH_ON_EXHAUSTED="skip",
    )
    assert run.code == 5
    assert run.checkpoint["status"] == "stopped"


def test_a_failure_outranks_a_task_below_the_bar(site: Site) -> None:
    run = site.run(
        site.bundle(1, 2),
        worker=[solve(1) + submit(1), call("bash", command="true")],
        evaluator=[reject("weak_test")],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1",
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.tasks["T-001"]["quality_flag"] == "below-bar"
    assert run.tasks["T-002"]["status"] == "failed"
    assert run.code == 1

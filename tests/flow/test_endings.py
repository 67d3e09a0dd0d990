"""Each way a task or a run can end."""

from __future__ import annotations

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
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, by_role, call, error, say
from support.night_clock import LateClock

from tilth.session.start import start


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site.make(tmp_path, {"pyproject.toml": LIGHT})


@pytest.fixture
def tested(tmp_path: Path) -> Site:
    """Give a site whose gate runs ruff and pytest."""
    return Site.make(tmp_path / "tested")


def usage(**tokens: int) -> dict[str, int]:
    return {"input_tokens": 10, "output_tokens": 5, **tokens}


def test_a_task_that_runs_out_of_iterations_fails_as_iter_cap(site: Site) -> None:
    run = site.run(
        site.bundle(1, 2),
        worker=[solve(1), call("bash", command="true"), call("bash", command="ls")],
        TILTH_MAX_ITERATIONS_PER_TASK="3",
    )
    assert run.code == 1
    assert run.of("task_failed")[0]["reason"] == "iter_cap"
    assert run.of("stop")[0]["reason"] == "iter_cap"
    assert run.subjects[-1] == "FAILED (iter_cap) T-001: Add feature 1"
    assert run.tasks["T-001"]["status"] == "failed"
    assert run.tasks["T-002"]["status"] == "pending"
    assert run.checkpoint["status"] == "failed"


def test_partial_work_of_a_failed_task_is_kept_in_its_commit(site: Site) -> None:
    run = site.run(site.bundle(1), worker=[solve(1)], TILTH_MAX_ITERATIONS_PER_TASK="1")
    assert git(site.repo, "show", f"{run.branch}:feature1.py") + "\n" == solution(1)


def test_three_quiet_turns_in_a_row_end_the_task_as_no_case(site: Site) -> None:
    run = site.run(
        site.bundle(1), worker=[say("Hm."), call("bash", command="ls"), *[say("Done!")] * 3]
    )
    assert run.code == 1
    assert run.of("stop")[0]["reason"] == "no_case"
    assert len(run.of("nudge")) == 3
    assert "submit_case" in run.last_user_text("worker", 1)


def test_the_nth_rejection_ends_the_task_as_evaluator_cap(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[reject("weak_test"), reject("scope_creep")],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="2",
    )
    assert run.code == 1
    assert run.of("task_failed")[0]["reason"] == "evaluator_cap"


def test_a_rejection_earns_extra_iterations(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), call("bash", command="ls"), submit(1)],
        evaluator=[reject(), accept()],
        TILTH_MAX_ITERATIONS_PER_TASK="2",
        TILTH_ITERATION_BONUS_PER_REJECTION="1",
    )
    assert run.code == 0


def test_the_bonus_never_exceeds_the_budget_itself(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[reject("weak_test"), reject("scope_creep"), reject("half_finished")],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        TILTH_ITERATION_BONUS_PER_REJECTION="9",
    )
    assert run.of("stop")[0]["reason"] == "iter_cap"
    assert len(run.asked("worker")) == 2


def test_an_unchanged_tree_is_rejected_without_a_model_call(site: Site) -> None:
    coverage = [{"criterion": "1", "addressed_by": "README.md"}]
    run = site.run(
        site.bundle(1),
        worker=[submit(1, ac_coverage=coverage), solve(1) + submit(1)],
        evaluator=[accept()],
    )
    assert run.code == 0
    first = run.ledger(1)[0]
    assert (first["source"], first["rejection_category"]) == ("harness", "acceptance_gap")
    assert len(run.asked("evaluator")) == 1


def test_a_case_that_cannot_be_read_is_sent_back(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[
            solve(1) + call("submit_case", summary="Done"),
            submit(1, ac_coverage=[{"criterion": "1", "addressed_by": "nowhere.py:f"}]),
            submit(1),
        ],
        evaluator=[accept()],
    )
    assert run.code == 0
    errors = [payload["error"] for payload in run.of("case_parse_error")]
    assert "ac_coverage" in errors[0]
    assert "nowhere.py" in errors[1]


def test_the_token_cap_stops_before_the_next_call_and_stays_resumable(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1).but(usage=usage(input_tokens=900))],
        TILTH_MAX_TOKENS="905",
    )
    assert run.code == 3
    assert run.of("stop")[0]["reason"] == "token_cap"
    assert "TILTH_MAX_TOKENS" in run.of("stop")[0]["detail"]
    assert run.tasks["T-001"]["status"] == "in_progress"
    assert run.checkpoint["status"] == "stopped"


def test_cache_reads_are_recorded_but_not_counted(site: Site) -> None:
    cached = usage(input_tokens=1, cache_read_input_tokens=5000)
    run = site.run(
        site.bundle(1),
        worker=[(solve(1) + submit(1)).but(usage=cached)],
        evaluator=[accept()],
        TILTH_MAX_TOKENS="500",
    )
    assert run.code == 0
    assert run.checkpoint["usage"]["worker"]["usage"]["cache_read_tokens"] == 5000


def test_the_cost_cap_stops_the_run_and_warns_once_on_the_way(site: Site) -> None:
    costly = usage(output_tokens=30_000)
    run = site.run(
        site.bundle(1),
        worker=[call("bash", command=f"echo {n}").but(usage=costly) for n in range(9)],
        TILTH_MAX_COST_USD="2",
    )
    assert run.code == 3
    assert run.of("stop")[0]["reason"] == "cost_cap"
    warnings = [payload["cap"] for payload in run.of("cap_warning")]
    assert warnings == ["cost_cap"]


def test_the_wall_clock_stops_the_run(site: Site) -> None:
    clock = LateClock(lambda: any(site.sessions.glob("*/workspace/mark")))
    script = by_role(worker=[call("bash", command="touch mark"), solve(1) + submit(1)])
    with MessagesServer(script) as server:
        environ = site.environ(server.url)
        how = {"new": True, "ping": False, "environ": environ, "clock": clock}
        result = start(site.bundle(1), site.repo, {}, **how)
    run = Run(site, result.exit_code, tuple(server.requests))
    assert run.code == 3
    assert run.of("stop")[0]["reason"] == "wall_clock"
    # The command that used the time up was not cut short, and the model is not asked again.
    assert [(made["name"], made["exit_code"]) for made in run.of("tool_result")] == [("bash", 0)]
    assert len(run.asked("worker")) == 1


@pytest.mark.parametrize(
    ("status", "word"), [(401, "TILTH_API_KEY"), (404, "TILTH_WORKER_MODEL"), (400, "tools")]
)
def test_a_refusal_stops_the_run_with_the_providers_message(
    site: Site, status: int, word: str
) -> None:
    run = site.run(site.bundle(1), worker=[error(status, "bad tools given")])
    assert run.code == 5
    stop = run.of("stop")[0]
    assert stop["reason"] == "provider_failure"
    assert word in stop["detail"]
    assert run.tasks["T-001"]["status"] == "in_progress"


def test_an_evaluator_that_fails_is_never_a_verdict(site: Site) -> None:
    run = site.run(
        site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[error(403, "not yours")]
    )
    assert run.code == 5
    assert run.ledger(1) == []
    assert run.tasks["T-001"]["status"] == "pending_eval"


def test_an_unreadable_verdict_is_asked_for_once_more_then_fails_closed(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[say("Fine."), call("submit_verdict", verdict="ACCEPT", concern="x"), accept()],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1",
    )
    assert run.code == 0
    assert len(run.of("evaluator_parse_error")) == 2
    first = run.ledger(1)[0]
    assert (first["verdict"], first["parse_failed"], first["source"]) == ("reject", True, "harness")
    assert run.of("evaluator_verdict")[0]["parse_failed"] is True


def test_three_unreadable_verdicts_in_a_row_stop_the_run(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[say("?")] * 6,
    )
    assert run.code == 5
    assert run.of("stop")[0]["reason"] == "provider_failure"


def test_a_blocker_the_evaluator_confirms_waits_for_a_person(site: Site) -> None:
    ruling = call("submit_ruling", contract_at_fault=True, reason="The criteria contradict.")
    run = site.run(
        site.bundle(1),
        worker=[block("Criterion 1 cannot hold.", evidence="test line 5")],
        evaluator=[ruling],
    )
    assert run.code == 6
    assert run.of("task_failed")[0]["reason"] == "blocked"
    assert run.of("stop")[0]["reason"] == "blocked"
    assert run.checkpoint["status"] == "waiting"
    assert run.of("operator_request")[0]["kind"] == "blocked"


def test_a_blocker_the_evaluator_denies_goes_back_to_work(site: Site) -> None:
    ruling = call("submit_ruling", contract_at_fault=False, reason="Read criterion 1 again.")
    run = site.run(
        site.bundle(1),
        worker=[block("Too hard."), solve(1) + submit(1)],
        evaluator=[ruling, accept()],
    )
    assert run.code == 0
    assert "Read criterion 1 again." in run.last_user_text("worker", 1)


@pytest.mark.parametrize("said", [{}, {"TILTH_ON_EXHAUSTED": "skip"}], ids=["auto", "skip"])
def test_independent_tasks_go_on_where_a_plan_declares_dependencies_and_dependents_wait(
    site: Site, said: dict[str, str]
) -> None:
    tasks = [task(1), task(2, depends_on=["T-001"]), task(3)]
    run = site.run(
        site.bundle(1, 2, 3, tasks=tasks),
        worker=[solve(1), solve(3) + submit(3)],
        evaluator=[accept()],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        **said,
    )
    assert run.code == 1
    assert run.of("stop")[0]["reason"] == "iter_cap"
    statuses = {name: entry["status"] for name, entry in run.tasks.items()}
    assert statuses == {"T-001": "failed", "T-002": "pending", "T-003": "done"}
    assert run.subjects[1:] == ["T-003: Add feature 3"]
    kept = git(site.repo, "log", "-1", "--format=%s", f"refs/tilth/{run.session.name}/T-001")
    assert kept == "FAILED (iter_cap) T-001: Add feature 1"
    assert "feature1.py" not in git(site.repo, "ls-tree", "-r", "--name-only", run.branch)


def test_force_accept_lands_the_last_green_tree_below_the_bar(tested: Site) -> None:
    run = tested.run(
        tested.bundle(1),
        worker=[solve(1) + submit(1), write("junk.py", "x = 1\n")],
        evaluator=[reject(score=40)],
        TILTH_MAX_EVALUATOR_CALLS_PER_TASK="0",
        TILTH_ITERATION_BONUS_PER_REJECTION="0",
        TILTH_MAX_ITERATIONS_PER_TASK="2",
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.code == 4
    entry = run.tasks["T-001"]
    assert (entry["status"], entry["quality_flag"], entry["score"]) == ("done", "below-bar", 40)
    assert "Tilth-Quality: below-bar" in git(tested.repo, "log", "-1", "--format=%B", run.branch)
    assert "junk.py" not in git(tested.repo, "ls-tree", "--name-only", run.branch)


def test_without_an_evaluator_the_commit_says_it_was_not_evaluated(site: Site) -> None:
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], flags={"evaluate": False})
    assert run.code == 0
    trailers = git(site.repo, "log", "-1", "--format=%(trailers)", run.branch)
    assert "Tilth-Verdict: not-evaluated" in trailers


def test_an_accept_below_the_threshold_counts_as_a_rejection(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1)],
        evaluator=[accept(score=60, next_step="Thicken it."), accept(score="90")],
        flags={"eval_threshold": "80"},
    )
    assert run.code == 0
    first = run.ledger(1)[0]
    assert (first["verdict"], first["below_threshold"]) == ("reject", True)
    assert first["rejection_category"] == "acceptance_gap"
    assert first["next_step"] == "Thicken it."


def test_stagnation_ends_the_task(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1), submit(1), submit(1)],
        evaluator=[reject()] * 3,
    )
    assert run.code == 1
    assert run.of("stagnation")[0]["places"] == ["feature1.py"]
    assert run.of("task_failed")[0]["reason"] == "evaluator_cap"


def test_a_cut_answers_tool_call_is_never_executed(site: Site) -> None:
    cut = call("bash", command="touch cut.txt").but(stop_reason="max_tokens")
    run = site.run(site.bundle(1), worker=[cut, solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    assert "cut off" in run.last_user_text("worker", 1)
    assert "cut.txt" not in git(site.repo, "ls-tree", "--name-only", run.branch)


def test_a_prompt_that_is_too_long_is_answered_by_trimming(site: Site) -> None:
    steps: list[Answer] = [call("bash", command=f"seq {n} 900") for n in range(12)]
    too_long = error(400, "prompt is too long: 300000 tokens > 200000", "invalid_request_error")
    run = site.run(
        site.bundle(1),
        worker=[*steps, too_long, solve(1) + submit(1)],
        evaluator=[accept()],
    )
    assert run.code == 0
    trimmed = run.of("context_trimmed")[0]
    assert len(trimmed["call_ids"]) == 6
    retried = run.asked("worker")[13].body["messages"]
    first = trimmed["call_ids"][0]
    assert retried[2]["content"][0]["content"] == trimmed["contents"][first]
    assert "bash `seq 0 900`" in trimmed["contents"][first]


def test_an_answer_cut_by_a_full_window_makes_room_for_the_next(site: Site) -> None:
    steps: list[Answer] = [call("bash", command=f"seq {n} 900") for n in range(8)]
    cut = call("bash", command="touch cut.txt").but(stop_reason="model_context_window_exceeded")
    run = site.run(site.bundle(1), worker=[*steps, cut, solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    trimmed = run.of("context_trimmed")[0]
    shown = run.asked("worker")[9].body["messages"][2]["content"][0]["content"]
    assert shown == trimmed["contents"][trimmed["call_ids"][0]]
    assert "cut.txt" not in git(site.repo, "ls-tree", "--name-only", run.branch)


def test_what_looks_like_a_key_is_masked_in_a_validators_report(tested: Site) -> None:
    key = "sk-" + "live" * 6
    shows = write("feature1.py", f"def add1(x):\n    return {key!r}\n")
    run = tested.run(
        tested.bundle(1), worker=[shows + submit(1)], TILTH_MAX_ITERATIONS_PER_TASK="1"
    )
    reports = run.of("validator_run")
    assert [report["phase"] for report in reports if report["name"] == "pytest"] == ["base", "case"]
    assert not any(key in report["output"] for report in reports)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({}, "no acceptance test for T-002: only the evaluator stands behind it"),
        ({"evaluate": False}, "no acceptance test for T-002, and no evaluator stands behind it"),
    ],
)
def test_a_task_without_a_seed_test_is_said_to_stand_on_the_evaluator_alone(
    tested: Site, capsys: pytest.CaptureFixture[str], flags: dict[str, object], said: str
) -> None:
    bundle = tested.bundle(1, tasks=[task(1), task(2)])
    run = tested.run(bundle, worker=[error(400, "no")], flags=flags)
    assert run.code == 5
    assert said in capsys.readouterr().out

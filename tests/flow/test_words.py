"""A person's words: to a session that runs and to one that rests, and what comes of them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, Site, accept, git, reject, solve, submit, task, write
from support.light_gate import light_site, whole_gate
from support.messages_api import call, error
from support.replays import play, say_of, standings
from support.witness import bears_witness
from support.words import Endpoint, command, during, played, stopping, wait_for, words_in

BETTER = '"""Adds one, below zero too."""\n\n\ndef add1(x):\n    return x + 1\n'
BETTER_STILL = BETTER.replace("Adds one", "Adds exactly one")


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return light_site(tmp_path, request)


@pytest.fixture
def endpoint(site: Site) -> Any:
    one = Endpoint(site)
    with one.server:
        yield one


def said(run: Run) -> list[tuple[str, str | None, str]]:
    return [(word["verb"], word["task"], word["text"]) for word in run.of("operator_word")]


def proven(site: Site) -> None:
    code, text = say_of(site)
    assert code == 0, text
    assert set(standings(play(site)).values()) <= {"equal", "unfinished"}


def test_a_note_to_a_running_session_stands_in_the_workers_next_message(
    site: Site, endpoint: Endpoint
) -> None:
    def note() -> None:
        done = command(site, "tell", "latest", "Use the \x1b[31mold\x1b[0m name.")
        assert done.returncode == 0, done.stderr
        assert "the worker reads it in its next message" in done.stderr

    endpoint.script = played(
        worker=[during(solve(1), note), call("bash", command="ls"), submit(1)], evaluator=[accept()]
    )
    run = endpoint.run(site.bundle(1))
    assert run.code == 0
    assert said(run) == [("tell", "T-001", "Use the ␛[31mold␛[0m name.")]
    last = run.asked("worker")[1].body["messages"][-1]["content"]
    assert [block["type"] for block in last] == ["tool_result", "text"]
    assert "Note from the operator" in last[1]["text"]
    assert "Use the ␛[31mold␛[0m name." in last[1]["text"]
    assert "Use the ␛[31mold␛[0m name." in run.last_user_text("evaluator", 0)
    assert not words_in(run.session)
    proven(site)


def test_a_note_at_rest_comes_into_the_conversation_that_goes_on(
    site: Site, endpoint: Endpoint
) -> None:
    stopped: list[subprocess.CompletedProcess[str]] = []
    endpoint.script = played(worker=[during(solve(1), stopping(site, stopped))])
    run = endpoint.run(site.bundle(1))
    assert run.code == 130
    wait_for(lambda: bool(stopped))
    assert stopped[0].returncode == 0
    assert "has stopped" in stopped[0].stderr
    assert said(run) == [("stop", None, "")]
    assert run.of("stop")[-1]["reason"] == "interrupted"

    assert command(site, "tell", "latest", "-", stdin=b"Mind the zero.\n").returncode == 0
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[accept()])
    again = endpoint.resume()
    assert again.code == 0
    last = again.asked("worker")[1].body["messages"][-1]["content"]
    assert "Mind the zero." in last[-1]["text"]
    assert [block["type"] for block in last] == ["tool_result", "text"]
    proven(site)


def test_a_stop_is_heard_between_two_tool_calls(site: Site, endpoint: Endpoint) -> None:
    stopped: list[subprocess.CompletedProcess[str]] = []
    turn = solve(1) + call("bash", command="touch second.txt")
    endpoint.script = played(worker=[during(turn, stopping(site, stopped))])
    run = endpoint.run(site.bundle(1))
    assert run.code == 130
    assert not (run.session / "workspace" / "second.txt").exists()
    wait_for(lambda: bool(stopped))


def test_a_stop_while_the_endpoint_refuses_is_no_failure_of_the_endpoint(
    site: Site, endpoint: Endpoint
) -> None:
    stopped: list[subprocess.CompletedProcess[str]] = []
    refused = error(401, "no such key", "authentication_error")
    endpoint.script = played(worker=[during(refused, stopping(site, stopped))])
    run = endpoint.run(site.bundle(1))
    assert run.code == 130
    last = run.of("stop")[-1]
    assert (last["reason"], last["exit_code"]) == ("interrupted", 130)
    assert "no such key" in last["detail"]
    assert len(run.asked("worker")) == 1
    wait_for(lambda: bool(stopped))
    assert stopped[0].returncode == 0


def test_stopping_what_does_not_run_says_so_and_leaves_nothing(
    site: Site, endpoint: Endpoint
) -> None:
    assert "no session is running" in command(site, "stop").stderr
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[accept()])
    run = endpoint.run(site.bundle(1))
    done = command(site, "stop", run.session.name)
    assert done.returncode == 0
    assert "is not running" in done.stderr
    assert not said(run)
    assert not words_in(run.session)


def test_a_reject_of_a_running_task_comes_into_its_conversation(
    site: Site, endpoint: Endpoint
) -> None:
    def send_back() -> None:
        assert command(site, "reject", "latest", "T-001", "Not like this.").returncode == 0

    endpoint.script = played(
        worker=[during(solve(1), send_back), write("feature1.py", BETTER), submit(1)],
        evaluator=[accept()],
    )
    run = endpoint.run(site.bundle(1))
    assert run.code == 0
    assert "Concern C1: Not like this." in run.last_user_text("worker", 1)
    assert (run.ledger(1)[0]["source"], run.ledger(1)[0]["concern"]) == ("person", "Not like this.")
    proven(site)


def test_a_reject_during_the_review_ends_it(site: Site, endpoint: Endpoint) -> None:
    def send_back() -> None:
        done = command(
            site, "reject", "latest", "T-001", "No docstring.", "--category", "half_finished"
        )
        assert done.returncode == 0, done.stderr

    endpoint.script = played(
        worker=[solve(1), submit(1), write("feature1.py", BETTER), submit(1)],
        evaluator=[during(accept(), send_back), accept()],
    )
    run = endpoint.run(site.bundle(1))
    assert run.code == 0
    ledger = [(entry["source"], entry["verdict"]) for entry in run.ledger(1)]
    assert ledger == [("person", "reject"), ("evaluator", "accept")]
    assert run.ledger(1)[0]["rejection_category"] == "half_finished"
    assert "REJECTED (half_finished). The operator" in run.last_user_text("worker", 2)
    assert run.tasks["T-001"]["rescue_count"] == 1
    assert (run.session / "workspace" / "feature1.py").read_text() == BETTER
    proven(site)


def done_twice(site: Site, endpoint: Endpoint) -> Run:
    plan = [task(1), task(2, depends_on=["T-001"])]
    endpoint.script = played(
        worker=[solve(1), submit(1), solve(2), submit(2)], evaluator=[accept(), accept()]
    )
    return endpoint.run(site.bundle(1, 2, tasks=plan))


@whole_gate
def test_a_done_task_that_is_sent_back_lands_again_in_a_second_round(
    site: Site, endpoint: Endpoint
) -> None:
    run = done_twice(site, endpoint)
    tip = git(site.repo, "rev-parse", run.branch)
    done = command(site, "reject", "latest", "T-001", "Say what it does below zero.")
    assert done.returncode == 0
    assert "T-002 is done, but built on T-001, which was sent back" in done.stderr
    assert run.tasks["T-001"]["status"] == "pending"
    assert run.checkpoint["status"] == "stopped"
    assert git(site.repo, "rev-parse", run.branch) == tip
    info = command(site, "info", "latest")
    assert "built on T-001, which was sent back" in info.stdout + info.stderr
    assert "built on T-001, which was sent back" in command(site, "report", "latest").stdout
    assert "built on T-001, which was sent back" in (run.session / "report.md").read_text()

    endpoint.script = played(
        worker=[submit(1), write("feature1.py", BETTER), submit(1)], evaluator=[accept(score=91)]
    )
    again = endpoint.resume()
    assert again.code == 0
    first = again.asked("worker")[4].body["messages"][0]["content"][0]["text"]
    assert "## Sent back by the operator: settle this first\n\nC2: Say what it does" in first
    assert "No file has changed" in again.last_user_text("worker", 5)
    assert "round 2 of a task that was done before" in again.last_user_text("evaluator", 2)
    assert again.subjects[-1] == "T-001: Add feature 1 (round 2)"
    trailers = git(site.repo, "log", "-1", "--format=%(trailers)", again.branch)
    assert "Tilth-Round: 2" in trailers
    assert git(site.repo, "rev-parse", f"{again.branch}^") == tip
    assert not again.of("seed_already_green")
    assert "built on T-001" not in command(site, "info", "latest").stdout
    assert "built on T-001" not in (run.session / "report.md").read_text()
    bears_witness(again)
    proven(site)


def test_a_running_session_takes_a_done_task_up_again(site: Site, endpoint: Endpoint) -> None:
    def send_back() -> None:
        assert command(site, "reject", "latest", "T-001", "Say more.").returncode == 0

    plan = [task(1), task(2)]
    endpoint.script = played(
        worker=[
            *(solve(1), submit(1), during(solve(2), send_back), submit(2)),
            *(write("feature1.py", BETTER), submit(1)),
        ],
        evaluator=[accept(), accept(), accept()],
    )
    run = endpoint.run(site.bundle(1, 2, tasks=plan))
    assert run.code == 0
    assert run.subjects[-2:] == ["T-002: Add feature 2", "T-001: Add feature 1 (round 2)"]
    proven(site)


def test_a_task_below_the_bar_that_is_accepted_loses_its_flag(
    site: Site, endpoint: Endpoint
) -> None:
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[reject(score=40)])
    caps = {"TILTH_ON_EXHAUSTED": "accept", "TILTH_MAX_EVALUATOR_CALLS_PER_TASK": "1"}
    run = endpoint.run(site.bundle(1), **caps)
    assert run.code == 4
    assert endpoint.resume(**caps).code == 4
    refused = command(site, "answer", "latest", "R-001", "fine by me")
    assert refused.returncode == 2
    assert "begin the answer with `accept` or `reject`" in refused.stderr
    tip = git(site.repo, "rev-parse", run.branch)
    done = command(site, "answer", "latest", "R-001", "accept it is good enough")
    assert done.returncode == 0, done.stderr
    assert run.tasks["T-001"]["quality_flag"] is None
    assert git(site.repo, "rev-parse", run.branch) == tip
    assert endpoint.resume(**caps).code == 0
    assert run.of("operator_word")[0]["decision"] == "accept"
    proven(site)


def failed_on_green(site: Site, endpoint: Endpoint, **more: str) -> Run:
    """T-001 fails although its case was green; T-002 is done."""
    endpoint.script = played(
        worker=[solve(1), submit(1), solve(2), submit(2)], evaluator=[reject(), accept()]
    )
    caps = {"TILTH_ON_EXHAUSTED": "skip", "TILTH_MAX_EVALUATOR_CALLS_PER_TASK": "1", **more}
    return endpoint.run(site.bundle(1, 2), **caps)


@whole_gate
def test_a_failed_task_that_is_accepted_lands_on_what_has_landed_since(
    site: Site, endpoint: Endpoint
) -> None:
    run = failed_on_green(site, endpoint)
    assert run.code == 1
    done = command(site, "accept", "latest", "t-001", "--note", "It is what I want.")
    assert done.returncode == 0, done.stderr
    assert run.subjects[-2:] == ["T-002: Add feature 2", "T-001: Add feature 1"]
    trailers = git(site.repo, "log", "-1", "--format=%(trailers)", run.branch)
    assert "Tilth-Verdict: person" in trailers
    assert run.tasks["T-001"]["status"] == "done"
    assert run.checkpoint["status"] == "done"
    assert run.of("task_done")[-1]["verdict"] == "person"
    assert git(site.repo, "for-each-ref", "refs/tilth/") == ""
    assert git(site.repo, "show", f"{run.branch}:feature2.py")
    assert endpoint.resume().code == 0
    proven(site)


def test_an_accept_waits_for_the_task_under_way_and_lands_then(
    site: Site, endpoint: Endpoint
) -> None:
    stopped: list[subprocess.CompletedProcess[str]] = []
    caps = {"TILTH_ON_EXHAUSTED": "skip", "TILTH_MAX_EVALUATOR_CALLS_PER_TASK": "1"}
    endpoint.script = played(
        worker=[solve(1), submit(1), during(solve(2), stopping(site, stopped))],
        evaluator=[reject()],
    )
    run = endpoint.run(site.bundle(1, 2), **caps)
    wait_for(lambda: bool(stopped))
    waits = command(site, "accept", "latest", "T-001")
    assert waits.returncode == 0
    assert "it lands as soon as that one has ended" in waits.stderr
    assert run.tasks["T-001"]["status"] == "failed"

    endpoint.script = played(worker=[solve(2), submit(2)], evaluator=[accept()])
    again = endpoint.resume(**caps)
    assert again.code == 0
    assert again.subjects[-2:] == ["T-002: Add feature 2", "T-001: Add feature 1"]
    assert not words_in(again.session)
    assert "done, accepted by a person" in command(site, "info", "latest").stdout
    proven(site)


def test_a_failure_that_halted_the_run_is_accepted_in_place_of_its_commit(
    site: Site, endpoint: Endpoint
) -> None:
    endpoint.script = played(worker=[solve(1), submit(1)], evaluator=[reject()])
    run = endpoint.run(
        site.bundle(1, 2), TILTH_ON_EXHAUSTED="halt", TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1"
    )
    assert command(site, "accept", "latest", "T-001").returncode == 0
    assert run.subjects[-1] == "T-001: Add feature 1"
    assert not [subject for subject in run.subjects if subject.startswith("FAILED")]
    endpoint.script = played(worker=[solve(2), submit(2)], evaluator=[accept()])
    assert endpoint.resume().code == 0
    proven(site)


@whole_gate
def test_a_failed_task_whose_last_case_was_red_is_not_accepted(
    site: Site, endpoint: Endpoint
) -> None:
    wrong = write("feature1.py", "def add1(x):\n    return x\n")
    endpoint.script = played(worker=[wrong, submit(1)])
    run = endpoint.run(site.bundle(1), TILTH_MAX_ITERATIONS_PER_TASK="2")
    before = (run.session / "events.jsonl").read_bytes()
    done = command(site, "accept", "latest", "T-001")
    assert done.returncode == 2
    assert "its last case was red (pytest)" in done.stderr
    assert (run.session / "events.jsonl").read_bytes() == before


def test_an_accept_of_a_clean_task_is_kept_as_a_label(site: Site, endpoint: Endpoint) -> None:
    run = done_twice(site, endpoint)
    tip = git(site.repo, "rev-parse", run.branch)
    assert command(site, "accept", "latest", "T-002").returncode == 0
    assert said(run) == [("accept", "T-002", "")]
    assert git(site.repo, "rev-parse", run.branch) == tip
    assert endpoint.resume().code == 0


@whole_gate
def test_a_transcript_holds_prompts_calls_output_gate_verdict_and_words(
    site: Site, endpoint: Endpoint
) -> None:
    def note() -> None:
        assert command(site, "tell", "latest", "Mind the zero.").returncode == 0

    looking = during(solve(1) + call("bash", command="echo seen-it"), note)
    endpoint.script = played(worker=[looking, submit(1)], evaluator=[accept(concern="It is so.")])
    run = endpoint.run(site.bundle(1))
    told = command(site, "show", "latest", "T-001", "--transcript").stdout
    parts = ["# Your task: T-001", "▶ bash", "seen-it", "a person: tell", "Mind the zero."]
    parts += ["▶ submit_case", "gate: pytest passed", "verdict: accept, by the evaluator"]
    places = [told.find(part) for part in parts]
    assert -1 not in places, dict(zip(parts, places, strict=True))
    assert places == sorted(places)
    shown = command(site, "show", "latest", "T-001").stdout
    for part in (
        run.tasks["T-001"]["agent"],
        "rescues   0",
        str(run.session / "workspace"),
        "tests/test_t001_add.py",
        "The module feature1 needs a function that adds 1.",
        "1. add1(x) gives x + 1",
        "- tell: Mind the zero.",
    ):
        assert part in shown

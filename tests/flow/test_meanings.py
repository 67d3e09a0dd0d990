"""Meanings: taint, weak seed tests, what stood in the way, and how a session stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import resume, start
from support.flow_site import Run, Site, accept, read_lines, reject, solve, submit, task, write
from support.light_gate import light_site, whole_gate
from support.messages_api import MessagesServer, by_role, error

from tilth.config.settings import load
from tilth.git.source import open_source
from tilth.interview.earlier import seed_concerns
from tilth.show.info import info

WEAK = "The test never tries a negative number."


@pytest.fixture
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    return light_site(tmp_path, request)


def test_work_below_the_bar_is_told_to_everything_that_stands_on_it(site: Site) -> None:
    plan = [task(1), task(2, depends_on=["T-001"]), task(3, depends_on=["T-002"])]
    run = site.run(
        site.bundle(1, 2, 3, tasks=plan),
        worker=[solve(n) + submit(n) for n in (1, 2, 3)],
        evaluator=[reject(score=41), accept(), accept()],
        TILTH_MAX_ITERATIONS_PER_TASK="1",
        TILTH_ITERATION_BONUS_PER_REJECTION="0",
        TILTH_ON_EXHAUSTED="accept",
    )
    assert run.code == 4
    mark = "[ACCEPTED BELOW QUALITY BAR, score 41] T-001"
    assert mark in run.last_user_text("worker", 2)
    assert mark in run.last_user_text("evaluator", 2)
    assert "- T-002 Add feature 2" in run.last_user_text("worker", 2)


@whole_gate
def test_a_weak_seed_test_goes_to_a_person_and_to_the_next_interview(site: Site) -> None:
    run = site.run(
        site.bundle(1),
        worker=[solve(1) + submit(1)],
        evaluator=[accept(seed_concern=WEAK)],
    )
    assert run.code == 0
    (request,) = read_lines(run.session / "operator-requests.jsonl")
    assert (request["kind"], request["text"], request["task_id"]) == ("seed_concern", WEAK, "T-001")
    assert run.of("operator_request")[0]["kind"] == "seed_concern"
    assert "seed_concern" not in run.ledger(1)[0]
    settings = load({}, site.environ("http://127.0.0.1:1"))
    assert seed_concerns(settings, open_source(site.repo)) == (WEAK,)


@whole_gate
def test_a_failed_task_says_what_stood_in_its_way_most_often(site: Site) -> None:
    wrong = "def add1(x):\n    return x\n"
    run = site.run(
        site.bundle(1),
        worker=[write("feature1.py", f"{wrong}# {n}\n") + submit(1) for n in range(3)],
        TILTH_MAX_ITERATIONS_PER_TASK="3",
    )
    assert run.code == 1
    obstacle = run.of("task_failed")[0]["obstacle"]
    assert (obstacle["kind"], obstacle["times"]) == ("test", 3)
    assert "test_t001_add.py::test_adds" in obstacle["subject"]


def test_the_evaluator_cap_goes_on_when_a_task_is_reattached(site: Site) -> None:
    again = write("feature1.py", "def add1(x):\n    return 1 + x\n") + submit(1)
    script = by_role(
        worker=[solve(1) + submit(1), error(400, "no"), again], evaluator=[reject(), reject()]
    )
    with MessagesServer(script) as server:
        # A start takes the keys out of the environment it is given.
        one, two = (site.environ(server.url, TILTH_MAX_EVALUATOR_CALLS_PER_TASK="2") for _ in "12")
        assert start(site.bundle(1), site.repo, {}, new=True, environ=one) == 5
        code = resume(None, {}, fresh=False, environ=two)
    run = Run(site, code, tuple(server.requests))
    assert run.code == 1
    assert run.of("session_resume")[0]["reattached"] == "T-001"
    assert run.of("task_failed")[0]["reason"] == "evaluator_cap"
    assert run.tasks["T-001"]["rescue_count"] == 1


def test_a_session_killed_after_a_resume_is_not_said_to_be_stopped_as_before(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    run: Run = site.run(site.bundle(1), worker=[error(400, "no such model")])
    assert run.code == 5
    log = run.session / "events.jsonl"
    last = json.loads(log.read_text().splitlines()[-1])
    resumed = {"last_stop": "provider_failure", "retried": [], "pending": []}
    line = {
        **last,
        "seq": last["seq"] + 1,
        "type": "session_resume",
        "payload": {"type": "session_resume", **resumed, "unwound_commit": None},
    }
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    capsys.readouterr()
    info(run.session.name, as_json=False, environ=site.environ("http://127.0.0.1:1"))
    assert "no such model" not in capsys.readouterr().out

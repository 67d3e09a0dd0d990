"""The challenge in a whole run: a cheat is sent back and given up; nothing is run twice."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support import crash_stage
from support.crash_stage import die_after
from support.flow_site import Run, Site, accept, git, read_lines, solve, submit, task, write
from support.light_gate import LIGHT
from support.messages_api import Reply, Request
from support.replays import play, say_of, standings

EQUAL = "class Any:\n    def __eq__(self, other):\n        return True\n"
CHEAT = f"{EQUAL}\n\ndef add1(x):\n    return Any()\n"
# The default run of pytest, and nothing besides.
PROJECT = {"pyproject.toml": '[tool.tilth]\nsuite = false\n[tool.ruff]\nlint.select = ["F"]\n'}


@pytest.fixture(scope="module")
def given_up(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Have a worker hand in three ways to equal everything."""
    site = Site.make(tmp_path_factory.mktemp("given-up"), PROJECT)
    cases = [write("feature1.py", f"# {number}\n{CHEAT}") + submit(1) for number in "123"]
    return site.run(site.bundle(1), worker=cases, evaluator=[])


def test_a_case_whose_tests_notice_nothing_comes_back_with_the_reason(given_up: Run) -> None:
    told = given_up.last_user_text("worker", 1)
    assert "::test_adds stays green although 2 was made " in told
    assert "its result does not come from the code" in told
    assert given_up.asked("evaluator") == []


def test_three_of_them_end_the_task(given_up: Run) -> None:
    assert given_up.code == 1
    [failed] = given_up.of("task_failed")
    assert failed["reason"] == "no_progress"
    assert "3 cases whose tests did not notice" in failed["detail"]
    made = given_up.of("challenge")
    assert [bool(each["refused"]) for each in made] == [True] * 3
    assert {each["validator"] for each in made} == {"pytest"}
    assert all(run["false"] != "" for run in made[0]["runs"])
    assert made[0]["tries"] == 2


def test_the_tests_of_a_done_task_must_notice_too(tmp_path: Path) -> None:
    site = Site.make(tmp_path, PROJECT)
    run = site.run(
        site.bundle(1, 2, tasks=[task(1), task(2, depends_on=["T-001"])]),
        worker=[
            solve(1) + submit(1),
            solve(2) + write("feature1.py", CHEAT) + submit(2),
            solve(1) + submit(2),
        ],
        evaluator=[accept(), accept()],
    )
    assert run.code == 0
    refused = [each for each in run.of("challenge") if each["refused"]]
    assert [each["validator"] for each in refused] == ["suite"]
    assert "; on the base it noticed" in refused[0]["refused"][0]
    assert standings(play(site)) == {"T-001": "equal", "T-002": "equal"}


def kind_of(event: dict[str, Any]) -> str:
    return str(event["type"])


STEPS = [write("feature1.py", CHEAT), submit(1), solve(1), submit(1)]


def answer(request: Request) -> Reply:
    """Answer by what is shown: cheat, hand it in, mend it, hand that in."""
    if request.role == "evaluator":
        return accept(score=95)
    messages = request.body["messages"]
    whole = [m for m in messages[1:] if m["role"] == "user"]
    taken = sum(crash_stage.INTERRUPTED not in json.dumps(message) for message in whole)
    return STEPS[min(taken, len(STEPS) - 1)]


def test_a_kill_after_a_challenge_makes_none_again_and_the_session_replays(tmp_path: Path) -> None:
    stage = crash_stage.Stage(tmp_path, 1, answer, {**PROJECT, ".gitignore": "seen.txt\n"})
    with stage.server:
        for number in (1, 2):
            hook = die_after(lambda: stage.log, kind_of, "challenge", number)
            assert stage.go_on(hook) == -signal.SIGKILL
        assert stage.go_on() == 0
    told = Counter(event["type"] for event in read_lines(stage.log))
    assert told["challenge"] == 2
    branch = f"session/{stage.site.session().name}"
    assert git(stage.site.repo, "show", f"{branch}:feature1.py") == solve_text()
    assert "requests identical" in say_of(stage.site)[1]
    assert standings(play(stage.site)) == {"T-001": "equal"}


def solve_text() -> str:
    return "def add1(x):\n    return x + 1"


def test_what_proves_nothing_is_told_to_the_evaluator_and_counts_as_doubt(tmp_path: Path) -> None:
    blind = "from feature1 import add1\n\n\ndef test_adds():\n    add1(1)\n"
    site = Site.make(tmp_path, PROJECT)
    bundle = site.bundle(1)
    [seed] = (bundle / "tests").iterdir()
    seed.write_text(blind)
    run = site.run(bundle, worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    assert "proves nothing" in run.last_user_text("evaluator", 0)
    report = (run.session / "report.md").read_text()
    assert "acceptance test that notices too little" in report


def test_a_gate_that_asks_for_no_test_is_not_challenged(tmp_path: Path) -> None:
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    run = site.run(site.bundle(1), worker=[solve(1) + submit(1)], evaluator=[accept()])
    assert run.code == 0
    assert run.of("challenge") == []


def test_a_note_on_the_change_reaches_the_evaluator_of_a_later_task(tmp_path: Path) -> None:
    site = Site.make(tmp_path, PROJECT)
    leaves = "import atexit\n\natexit.register(print)\n\n\ndef add1(x):\n    return x + 1\n"
    run = site.run(
        site.bundle(1, 2, tasks=[task(1), task(2)]),
        worker=[write("feature1.py", leaves) + submit(1), solve(2) + submit(2)],
        evaluator=[accept(), accept()],
    )
    assert run.code == 0
    said = "feature1.py:1: reaches for the end or a copy of the process: import atexit"
    assert f"- {said}" in run.last_user_text("evaluator", 0)
    assert f"by an earlier task of this session: {said}" in run.last_user_text("evaluator", 1)

"""The second look: a change that reads differently where it lands is put to the evaluator again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.flow_site import Run, accept, git, reject, submit
from support.lane_stage import LaneStage, Meeting, Script, plain_tasks
from support.light_gate import LIGHT
from support.messages_api import Answer, Reply, call, error
from support.replays import play, standings

POEM = "".join(f"line {number}\n" for number in range(1, 21))
FILES = {"pyproject.toml": LIGHT, "poem.txt": POEM}


def change(line: int, text: str) -> Answer:
    return call("bash", command=f"sed -i 's/^line {line}$/{text}/i' poem.txt")


def case(number: int) -> Answer:
    return submit(number, ac_coverage=[{"criterion": "1", "addressed_by": "poem.txt"}])


class Evaluator:
    """Accept every change where it was made; of the second, not what it reads like on the first."""

    def __init__(self) -> None:
        self.lost = True

    def __call__(self, number: int, opening: str) -> Reply:
        if number != 2 or "line two" not in opening or "LINE FOUR" in opening:
            return accept(score=80 + number)
        if self.lost:
            self.lost = False
            return error(401, "no such key", "authentication_error")
        return reject(concern="Not beside line two.", next_step="Shout.", score=40)


def stage_of(root: Path, judge: Evaluator, *tasks: int, **settings: str) -> LaneStage:
    """Have tasks change lines so near to each other that each stands in the others' diffs."""
    meeting = Meeting(*tasks)
    steps = {
        1: [change(2, "line two"), case(1)],
        2: [change(4, "Line 4"), case(2), change(4, "LINE FOUR"), case(2)],
        3: [change(6, "line six"), case(3)],
    }
    script = Script(steps, judge, before=lambda number, role: meeting.come(number))
    return LaneStage(root, script, plain_tasks(*tasks), FILES, **settings)


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Lose the endpoint at the first second look, and go on."""
    stage = stage_of(tmp_path_factory.mktemp("looked"), Evaluator(), 1, 2, 3)
    with stage.served():
        first = stage.run(3)
        assert (first.code, first.tasks["T-002"]["status"]) == (5, "accepted")
        return stage.resume(3)


def about(run: Run, number: int) -> list[str]:
    openings = [r.body["messages"][0]["content"][0]["text"] for r in run.asked("evaluator")]
    return [text for text in openings if f"T-00{number}" in text[:3000]]


def test_the_evaluator_sees_the_change_as_it_reads_on_what_has_landed(looked: Run) -> None:
    first, *_, last = about(looked, 3)
    assert " line 4\n" in first
    assert " LINE FOUR\n" in last


def test_a_second_verdict_against_it_is_the_cases_result(looked: Run) -> None:
    [refused] = looked.of("landing_refused")
    assert refused["cause"] == "verdict"
    results = [
        block["content"]
        for request in looked.asked("worker")
        for block in request.body["messages"][-1]["content"]
        if block["type"] == "tool_result"
    ]
    [told] = [text for text in results if "Not beside line two." in text]
    assert "cannot land" in told
    assert [entry["verdict"] for entry in looked.ledger(2)] == ["accept", "reject", "accept"]


def test_what_the_evaluator_saw_last_is_what_lands(looked: Run) -> None:
    assert looked.code == 0
    assert [subject.partition(":")[0] for subject in looked.subjects] == ["T-001", "T-002", "T-003"]
    for number in (2, 3):
        tree = looked.ledger(number)[-1]["tree"]
        assert looked.tasks[f"T-00{number}"]["score"] == 80 + number
        commit = looked.tasks[f"T-00{number}"]["commit"]
        assert git(looked.site.repo, "rev-parse", f"{commit}^{{tree}}") == tree
    text = git(looked.site.repo, "show", f"{looked.branch}:poem.txt").splitlines()
    assert text[:6] == ["line 1", "line two", "line 3", "LINE FOUR", "line 5", "line six"]


def test_a_session_with_a_second_look_replays(looked: Run) -> None:
    assert set(standings(play(looked.site)).values()) == {"equal"}


def test_a_second_verdict_against_it_can_be_the_last_one_allowed(tmp_path: Path) -> None:
    judge = Evaluator()
    judge.lost = False
    stage = stage_of(tmp_path, judge, 1, 2, TILTH_MAX_EVALUATOR_CALLS_PER_TASK="1")
    run = stage.run(2)
    assert run.code == 1
    assert run.tasks["T-002"]["status"] == "failed"
    assert run.of("task_failed")[0]["reason"] == "evaluator_cap"
    kept = git(run.site.repo, "show", f"refs/tilth/{run.session.name}/T-002:poem.txt")
    assert "Line 4" in kept
    assert "Not beside line two." in json.dumps(run.ledger(2))


def test_what_is_forced_after_a_second_look_is_what_passed_the_gate_there(tmp_path: Path) -> None:
    judge = Evaluator()
    judge.lost = False
    cap = {"TILTH_MAX_EVALUATOR_CALLS_PER_TASK": "1", "TILTH_ON_EXHAUSTED": "accept"}
    run = stage_of(tmp_path, judge, 1, 2, **cap).run(2)
    assert run.code == 4
    assert run.tasks["T-002"]["quality_flag"] == "below-bar"
    text = git(run.site.repo, "show", f"{run.branch}:poem.txt").splitlines()
    assert text[:4] == ["line 1", "line two", "line 3", "Line 4"]

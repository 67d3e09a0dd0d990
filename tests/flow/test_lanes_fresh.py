"""`resume --fresh` with lanes: what was at work begins anew, what was accepted lands."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Run, git, submit, write
from support.lane_stage import LaneStage, Meeting, Script, plain_tasks
from support.light_gate import LIGHT
from support.messages_api import Answer, call
from support.replays import play, standings
from support.waiting import wait_for

from tilth.base.clock import SystemClock
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.session.inbox import Inbox

FILES = {"pyproject.toml": LIGHT, "greeting.txt": "hello\n"}
LOOK = call("bash", command="ls")


def case(number: int, path: str) -> Answer:
    return submit(number, ac_coverage=[{"criterion": "1", "addressed_by": path}])


def part(number: int) -> list[Answer]:
    path = f"part{number}.txt"
    return [write(path, f"part {number}\n"), case(number, path)]


def greet(number: int, text: str) -> list[Answer]:
    return [write("greeting.txt", f"{text}\n"), case(number, "greeting.txt")]


def spoken(session: Path) -> bool:
    """Tell whether somebody said something that was not taken up yet."""
    return any(Inbox(session).waiting())


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Stop with one landed, one sent back by it, one at work and one that waits to land.

    Then begin anew.
    """
    together = Meeting(1, 2)
    steps = {
        1: greet(1, "hello, world"),
        2: [*greet(2, "good morning"), write("scratch2.txt", "left\n"), LOOK],
        3: [write("scratch3.txt", "left\n"), LOOK],
        4: part(4),
    }
    script = Script(steps)
    stage = LaneStage(tmp_path_factory.mktemp("fresh"), script, plain_tasks(1, 2, 3, 4), FILES)
    last = Meeting(2, 3)

    def before(number: int, role: str) -> None:
        together.come(number)
        seen = script.asked.count((number, role))
        if role == "worker" and (number, seen) in ((2, 3), (3, 1)):
            last.come(number)
            wait_for(lambda: stage.status("T-004") == "accepted", "the fourth to wait")
            if number == 2:
                say_stop(stage)
            else:
                wait_for(lambda: spoken(stage.site.session()), "the word")

    script.before = before
    with stage.served():
        assert stage.run(4).code == 130
        script.steps = {2: greet(2, "good morning, world"), 3: part(3), 4: part(4)}
        # With one lane the third has not begun anew when the run is asked to stop once more.
        script.before = lambda number, role: say_stop(stage)
        assert stage.resume(1, fresh=True).code == 130
        script.before = lambda number, role: None
        return stage.resume(4)


def say_stop(stage: LaneStage) -> None:
    word = OperatorWord(id=f"stop{len(stage.script.asked)}", verb=Verb.STOP)
    Inbox(stage.site.session()).put(word, SystemClock())


def test_what_was_at_work_begins_anew_and_what_was_accepted_lands_as_it_was(fresh: Run) -> None:
    assert fresh.code == 0
    asked, later = fresh.of("session_resume")
    assert sorted(asked["anew"]) == ["T-002", "T-003"]
    assert asked["lanes"] == ["T-004"]
    assert sorted(later["lanes"]) == ["T-002", "T-004"]
    subjects = [subject.partition(":")[0] for subject in fresh.subjects]
    assert subjects == ["T-001", "T-002", "T-003", "T-004"]


def test_each_begins_anew_once_however_often_the_run_is_stopped(fresh: Run) -> None:
    begun = [e["task_id"] for e in fresh.events if e["type"] == "context_reset"]
    assert sorted(begun) == ["T-001", *["T-002"] * 2, *["T-003"] * 2, "T-004"]


def test_the_new_attempt_begins_from_its_base_without_the_old_work(fresh: Run) -> None:
    names = git(fresh.site.repo, "ls-tree", "-r", "--name-only", fresh.branch).splitlines()
    assert not [name for name in names if name.startswith("scratch")]
    text = git(fresh.site.repo, "show", f"{fresh.branch}:greeting.txt")
    assert text == "good morning, world"


def test_the_old_work_is_kept(fresh: Run) -> None:
    for number in (2, 3):
        ref = f"refs/tilth/{fresh.session.name}/T-00{number}.fresh"
        assert git(fresh.site.repo, "show", f"{ref}:scratch{number}.txt") == "left"


def test_a_session_that_began_anew_replays(fresh: Run) -> None:
    assert set(standings(play(fresh.site)).values()) == {"equal"}

"""Several lanes and what can come between: a stop, a cap, a lost endpoint, a failure, a person."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, git, submit, write
from support.lane_stage import LaneStage, Meeting, Script, landed, plain_tasks
from support.messages_api import Answer, call, error
from support.replays import play, standings

from tilth.base.clock import SystemClock
from tilth.contract.operator_word import OperatorWord, Verb
from tilth.contract.verdict import Decision
from tilth.session.inbox import Inbox


def steps_of(*numbers: int) -> dict[int, list[Answer]]:
    return {number: plain(number) for number in numbers}


def plain(number: int) -> list[Answer]:
    """Write a file, look at it, hand it in."""
    path = f"part{number}.txt"
    return [write(path, f"part {number}\n"), call("bash", command=f"cat {path}"), case(number)]


def case(number: int) -> Answer:
    covered = [{"criterion": "1", "addressed_by": f"part{number}.txt"}]
    return submit(number, ac_coverage=covered)


def once(wanted: tuple[int, int], act: Callable[[], None]) -> Callable[[int, str], None]:
    """Do something before the nth answer of one task's worker."""
    number, nth = wanted
    seen = [0]

    def before(task: int, role: str) -> None:
        if task == number and role == "worker":
            seen[0] += 1
            if seen[0] == nth:
                act()

    return before


def say(stage: LaneStage, verb: Verb, task: str | None, **more: Any) -> None:
    word = OperatorWord(id=f"{verb}-{task}", verb=verb, task=task, **more)
    Inbox(stage.site.session()).put(word, SystemClock())


def subjects(run: Run) -> list[str]:
    return [subject.partition(":")[0] for subject in run.subjects]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> tuple[LaneStage, Run, Run]:
    """Ask a session of two lanes to stop, and resume it."""
    meeting = Meeting(1, 2)
    script = Script(steps_of(1, 2, 3))
    stage = LaneStage(tmp_path_factory.mktemp("stopped"), script, plain_tasks(1, 2, 3))
    stop = once((2, 2), lambda: say(stage, Verb.STOP, None))

    def before(number: int, role: str) -> None:
        meeting.come(number)
        stop(number, role)

    script.before = before
    with stage.served():
        first = stage.run(2)
        assert first.code == 130
        script.before = lambda number, role: None
        again = stage.resume(2)
    return stage, first, again


def test_a_stop_leaves_every_lane_where_it_can_go_on(stopped: tuple[LaneStage, Run, Run]) -> None:
    _stage, _first, again = stopped
    resumed = next(event for event in again.events if event["type"] == "session_resume")
    assert {"T-002"} <= set(resumed["payload"]["lanes"])
    assert again.code == 0
    assert subjects(again) == ["T-001", "T-002", "T-003"]


def test_a_resumed_lane_goes_on_in_its_own_conversation(
    stopped: tuple[LaneStage, Run, Run],
) -> None:
    _, _, again = stopped
    resets = [e["task_id"] for e in again.events if e["type"] == "context_reset"]
    assert sorted(resets) == ["T-001", "T-002", "T-003"]


def test_a_stopped_session_comes_to_the_commits_of_a_calm_one(
    stopped: tuple[LaneStage, Run, Run], tmp_path: Path
) -> None:
    _, _, again = stopped
    calm = LaneStage(tmp_path, Script(steps_of(1, 2, 3)), plain_tasks(1, 2, 3)).run(3)
    assert landed(calm) == landed(again)


def test_a_session_that_was_stopped_and_resumed_replays(
    stopped: tuple[LaneStage, Run, Run],
) -> None:
    stage, _, _ = stopped
    assert set(standings(play(stage.site)).values()) == {"equal"}


def test_a_lost_endpoint_stops_the_run_and_every_lane_can_go_on(tmp_path: Path) -> None:
    gone = [True]

    def lost(number: int, role: str) -> None:
        if number == 2 and gone[0]:
            raise ConnectionError

    class Flaky(Script):
        def __call__(self, request: Any) -> Any:
            try:
                return super().__call__(request)
            except ConnectionError:
                return error(401, "no such key", "authentication_error")

    stage = LaneStage(tmp_path, Flaky(steps_of(1, 2), before=lost), plain_tasks(1, 2))
    with stage.served():
        assert stage.run(2).code == 5
        gone[0] = False
        again = stage.resume(2)
    assert again.code == 0
    assert subjects(again) == ["T-001", "T-002"]


def test_a_failure_that_halts_lets_those_before_it_land_and_keeps_those_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """T-001 is slow and lands; T-002 fails; T-003 is accepted and lands on resume."""
    meeting = Meeting(1, 3)
    quiet = Answer(blocks=({"type": "text", "text": "Hm."},))
    script = Script({**steps_of(1, 3), 2: [quiet, quiet, quiet]})
    script.before = lambda number, role: meeting.come(number)
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2, 3), TILTH_ON_EXHAUSTED="halt")
    run = stage.run(3)
    assert run.code == 1
    assert subjects(run) == ["T-001"]
    statuses = {name: entry["status"] for name, entry in run.tasks.items()}
    assert statuses == {"T-001": "done", "T-002": "failed", "T-003": "accepted"}
    assert run.of("stop")[-1]["reason"] == "no_case"
    assert "1 done, 1 failed, 1 accepted, not landed" in capsys.readouterr().out
    report = (run.session / "report.md").read_text(encoding="utf-8")
    assert "unfinished" not in report
    script.steps = steps_of(1, 2, 3)
    script.before = lambda number, role: None
    again = stage.resume(3)
    assert again.code == 0
    assert subjects(again) == ["T-001", "T-002", "T-003"]


def test_a_note_reaches_the_lane_it_is_for_and_no_other(tmp_path: Path) -> None:
    meeting = Meeting(1, 2)
    script = Script(steps_of(1, 2))
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2))
    tell = once((2, 2), lambda: say(stage, Verb.TELL, "T-002", text="Mind the zero."))

    def before(number: int, role: str) -> None:
        meeting.come(number)
        tell(number, role)

    script.before = before
    run = stage.run(2)
    assert run.code == 0
    told = [r for r in run.asked("worker") if "Mind the zero." in json.dumps(r.body)]
    assert told
    assert all("# Your task: T-002" in json.dumps(r.body["messages"][0]) for r in told)


def test_a_person_can_send_back_what_was_accepted_and_waits_to_land(tmp_path: Path) -> None:
    """T-002 waits for T-001, is sent back, and is worked on again with its work in the files."""
    begun_again = threading.Event()
    script = Script(steps_of(1, 2))
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2))

    def send_back() -> None:
        while stage.status("T-002") != "accepted":
            assert not begun_again.wait(0.01)
        about = {"text": "Not like this.", "decision": Decision.REJECT}
        say(stage, Verb.REJECT, "T-002", **about)
        assert begun_again.wait(60)

    def before(number: int, role: str) -> None:
        first(number, role)
        if number == 2 and script.asked.count((2, "worker")) == 3 and role == "worker":
            begun_again.set()

    first = once((1, 1), send_back)
    script.before = before
    run = stage.run(2)
    assert run.code == 0
    assert subjects(run) == ["T-001", "T-002"]
    resets = [e for e in run.events if e["type"] == "context_reset" and e["task_id"] == "T-002"]
    assert [e["payload"].get("set_aside") for e in resets] == [None, "back"]
    assert "Not like this." in json.dumps(run.asked("worker")[4].body["messages"][0])


def test_a_branch_that_was_moved_from_outside_is_left_alone(tmp_path: Path) -> None:
    script = Script(steps_of(1, 2))
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2, T2=["T-001"]))

    def move() -> None:
        branch = f"refs/heads/session/{stage.site.session().name}"
        git(stage.site.repo, "update-ref", branch, "main~0")
        moved.append(git(stage.site.repo, "rev-parse", branch))

    moved: list[str] = []
    script.before = once((2, 1), move)
    run = stage.run(2)
    assert run.code == 2
    assert run.of("stop")[-1]["reason"] == "error"
    assert git(run.site.repo, "rev-parse", run.branch) == moved[0]
    tip = run.of("commit")[-1]["commit"]
    git(run.site.repo, "update-ref", f"refs/heads/{run.branch}", tip)
    again = stage.resume(2)
    assert again.code == 0
    assert subjects(again) == ["T-001", "T-002"]


def test_another_number_of_jobs_on_resume_changes_nothing(tmp_path: Path) -> None:
    script = Script(steps_of(1, 2, 3))
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2, 3))
    script.before = once((1, 3), lambda: say(stage, Verb.STOP, None))
    with stage.served():
        assert stage.run(3).code == 130
        again = stage.resume(1)
    assert again.code == 0
    assert subjects(again) == ["T-001", "T-002", "T-003"]
    assert len(list((again.session / "workspaces").iterdir())) == 3


def test_a_session_of_one_job_goes_on_in_lanes(tmp_path: Path) -> None:
    script = Script(steps_of(1, 2, 3))
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2, 3))
    script.before = once((2, 2), lambda: say(stage, Verb.STOP, None))
    with stage.served():
        assert stage.run(1).code == 130
        again = stage.resume(3)
    assert again.code == 0
    assert next(e for e in again.events if e["type"] == "session_resume")["payload"]["lanes"]
    assert subjects(again) == ["T-001", "T-002", "T-003"]
    text = git(again.site.repo, "show", f"{again.branch}:part2.txt")
    assert text == "part 2"

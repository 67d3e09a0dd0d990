"""Several tasks at once: three tasks in two lanes, a conflict, its rework, commits in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.flow_site import Run, git, submit, write
from support.lane_stage import LaneStage, Meeting, Script, plain_tasks
from support.light_gate import LIGHT
from support.replays import copy, play, say_of, standings

from tilth.session.reset import look

GREETING = 'GREETING = "hello"\n'
FIRST = 'GREETING = "hello, world"\n'
SECOND = 'GREETING = "good morning"\n'
BOTH = 'GREETING = "good morning, world"\n'


def case(number: int, path: str) -> object:
    return submit(number, ac_coverage=[{"criterion": "1", "addressed_by": path}])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    meeting = Meeting(1, 2)
    steps = {
        1: [write("greeting.py", FIRST), case(1, "greeting.py")],
        2: [
            write("greeting.py", SECOND),
            case(2, "greeting.py"),
            write("greeting.py", BOTH),
            case(2, "greeting.py"),
        ],
        3: [write("third.py", "THIRD = 3\n"), case(3, "third.py")],
    }
    script = Script(steps, before=lambda number, role: meeting.come(number))
    root = tmp_path_factory.mktemp("lanes")
    files = {"pyproject.toml": LIGHT, "greeting.py": GREETING}
    stage = LaneStage(root, script, plain_tasks(1, 2, 3, T3=["T-001"]), files)
    return stage.run(2)


def test_all_tasks_are_done(run: Run) -> None:
    assert run.code == 0
    assert {entry["status"] for entry in run.tasks.values()} == {"done"}


def test_the_commits_stand_in_the_order_of_one_job(run: Run) -> None:
    subjects = [subject.partition(":")[0] for subject in run.subjects]
    assert subjects == ["T-001", "T-002", "T-003"]


def test_history_is_linear_and_each_commit_is_its_own_change(run: Run) -> None:
    parents = git(run.site.repo, "log", "--format=%p", f"main..{run.branch}").splitlines()
    assert [len(line.split()) for line in parents] == [1, 1, 1]
    changed = git(run.site.repo, "log", "--format=", "--name-only", f"main..{run.branch}")
    assert changed.split() == ["third.py", "greeting.py", "greeting.py"]


def test_the_conflict_came_back_as_the_cases_result(run: Run) -> None:
    [refused] = run.of("landing_refused")
    assert refused["cause"] == "conflict"
    assert refused["files"] == ["greeting.py"]
    asked = [r for r in run.asked("worker") if "# Your task: T-002" in str(r.body["messages"][0])]
    [result] = asked[2].body["messages"][-1]["content"]
    assert result["type"] == "tool_result"
    assert "cannot land" in result["content"]
    assert "greeting.py" in result["content"]


def test_what_both_wanted_is_in_the_branch(run: Run) -> None:
    assert git(run.site.repo, "show", f"{run.branch}:greeting.py") + "\n" == BOTH


def test_each_task_was_worked_on_in_a_worktree_of_its_own(run: Run) -> None:
    assert sorted(path.name for path in (run.session / "workspaces").iterdir()) == [
        "T-001",
        "T-002",
        "T-003",
    ]


def test_the_third_began_with_the_first_alone(run: Run) -> None:
    bases = {
        event["task_id"]: event["payload"]["base"]
        for event in run.events
        if event["type"] == "context_reset"
    }
    log = git(run.site.repo, "log", "--format=%s", f"main..{bases['T-003']}")
    assert log.splitlines() == ["T-001: Add feature 1"]


def test_every_event_is_numbered_and_names_its_task(run: Run) -> None:
    assert [event["seq"] for event in run.events] == list(range(1, len(run.events) + 1))
    ours = {event["type"] for event in run.events if event["task_id"] is None}
    assert ours <= {"session_start", "validator_run", "forecast", "stop"}


def test_the_users_checkout_is_untouched(run: Run) -> None:
    assert git(run.site.repo, "status", "--porcelain") == ""


def test_a_replay_proves_every_request_and_every_tree(run: Run) -> None:
    code, said = say_of(run.site)
    assert code == 0, said
    assert standings(play(run.site)) == {"T-001": "equal", "T-002": "equal", "T-003": "equal"}


def test_a_reset_takes_every_lane_away(run: Run) -> None:
    site = copy(run.site, run.site.root / "copy")
    steps = look(site.sessions, run.session.name)
    named = [Path(step.where).name for step in steps if step.what == "worktree"]
    assert named == ["workspace", "T-001", "T-002", "T-003"]

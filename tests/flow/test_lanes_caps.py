"""Caps that are reached while several lanes are under way: one stop, nothing lost, all go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.flow_site import Run, git, submit, write
from support.lane_stage import LaneStage, Meeting, Script, plain_tasks
from support.messages_api import DEFAULT_USAGE, Answer, Request, call
from support.night_clock import NightClock
from support.replays import play, standings
from support.waiting import wait_for


def case(number: int) -> Answer:
    return submit(number, ac_coverage=[{"criterion": "1", "addressed_by": f"part{number}.txt"}])


def slow(number: int) -> list[Answer]:
    """Look around for long enough to be under way at every cap, then do the work."""
    looks = [call("bash", command=f"echo {number} {look}") for look in range(8)]
    return [*looks, write(f"part{number}.txt", f"part {number}\n"), case(number)]


class Spending(Script):
    """Answer at a cost that can be changed."""

    costs: Mapping[str, Any] = DEFAULT_USAGE

    def __call__(self, request: Request) -> Any:
        reply = super().__call__(request)
        return reply.but(usage=self.costs) if isinstance(reply, Answer) else reply


@dataclass(frozen=True)
class Capped:
    stage: LaneStage
    stops: tuple[tuple[int, str], ...]
    statuses: tuple[dict[str, str], ...]
    end: Run


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> Capped:
    """Reach one cap after the other with two tasks at work and a third that waits to land."""
    script = Spending({1: slow(1), 2: slow(2), 3: slow(3)[-2:]})
    stage = LaneStage(tmp_path_factory.mktemp("capped"), script, plain_tasks(1, 2, 3))
    clock = NightClock()
    legs: list[tuple[int, str]] = []
    statuses = []

    def meet(late_s: float = 0.0) -> None:
        meeting = Meeting(1, 2)

        def before(number: int, role: str) -> None:
            if number == 3:
                return
            wait_for(lambda: stage.status("T-003") == "accepted", "the third to wait")
            meeting.come(number)
            clock.advance(late_s)

        script.before = before

    def note(run: Run) -> None:
        legs.append((run.code, run.of("stop")[-1]["reason"]))
        statuses.append({name: entry["status"] for name, entry in run.tasks.items()})

    with stage.served():
        meet()
        note(stage.run(3, clock=clock, TILTH_MAX_TOKENS="60"))
        meet()
        script.costs = {**DEFAULT_USAGE, "output_tokens": 30_000}
        note(stage.resume(3, clock=clock, TILTH_MAX_COST_USD="0.5"))
        meet(late_s=3600)
        script.costs = DEFAULT_USAGE
        note(stage.resume(3, clock=clock, TILTH_MAX_WALL_CLOCK_MINUTES="90"))
        script.before = lambda number, role: None
        end = stage.resume(3, clock=clock)
    return Capped(stage, tuple(legs), tuple(statuses), end)


def test_each_cap_is_one_stop_of_the_whole_run(capped: Capped) -> None:
    assert capped.stops == ((3, "token_cap"), (3, "cost_cap"), (3, "wall_clock"))
    stops = [stop["reason"] for stop in capped.end.of("stop")]
    assert stops == ["token_cap", "cost_cap", "wall_clock", "all_done"]
    warned = [warning["cap"] for warning in capped.end.of("cap_warning")]
    assert sorted(warned) == sorted(set(warned))


def test_what_was_under_way_stays_so_and_what_was_accepted_waits(capped: Capped) -> None:
    stood = {"T-001": "in_progress", "T-002": "in_progress", "T-003": "accepted"}
    assert list(capped.statuses) == [stood] * 3


def test_every_lane_goes_on_in_its_own_conversation_after_every_cap(capped: Capped) -> None:
    resumes = capped.end.of("session_resume")
    assert [sorted(each["lanes"]) for each in resumes] == [["T-001", "T-002", "T-003"]] * 3
    begun = [e["task_id"] for e in capped.end.events if e["type"] == "context_reset"]
    assert sorted(begun) == ["T-001", "T-002", "T-003"]
    assert capped.end.code == 0
    subjects = [subject.partition(":")[0] for subject in capped.end.subjects]
    assert subjects == ["T-001", "T-002", "T-003"]


def test_a_session_of_many_caps_replays(capped: Capped) -> None:
    assert set(standings(play(capped.stage.site)).values()) == {"equal"}


def test_two_lanes_that_run_out_of_iterations_fail_with_their_work_and_begin_again(
    tmp_path: Path,
) -> None:
    meeting = Meeting(1, 2)
    part = {number: write(f"part{number}.txt", f"part {number}\n") for number in (1, 2)}
    script = Script({number: [part[number]] * 2 for number in (1, 2)})
    script.before = lambda number, role: meeting.come(number)
    stage = LaneStage(tmp_path, script, plain_tasks(1, 2))
    with stage.served():
        run = stage.run(2, TILTH_MAX_ITERATIONS_PER_TASK="2")
        assert run.code == 1
        assert run.of("stop")[-1]["reason"] == "iter_cap"
        assert {entry["status"] for entry in run.tasks.values()} == {"failed"}
        assert run.subjects == []
        for number in (1, 2):
            ref = f"refs/tilth/{run.session.name}/T-00{number}"
            kept = git(run.site.repo, "show", f"{ref}:part{number}.txt")
            assert kept == f"part {number}"
        script.steps = {number: [case(number)] for number in (1, 2)}
        again = stage.resume(2)
    assert again.code == 0
    assert again.of("session_resume")[0]["retried"] == ["T-001", "T-002"]
    assert [subject.partition(":")[0] for subject in again.subjects] == ["T-001", "T-002"]

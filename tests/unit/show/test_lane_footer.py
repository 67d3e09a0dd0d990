"""Several lanes on the live screen: one row each, and every line says whose it is."""

from __future__ import annotations

import io

from support.event_samples import (
    SAMPLES,
    SHA,
    Tape,
    model_call,
    session_start,
    tool_call,
    uses,
    validator,
    verdict,
)

from tilth.contract.prd import Plan, Task
from tilth.log.events import ContextReset, Event, Payload
from tilth.show.brush import Brush
from tilth.show.footer import Footer, Moment
from tilth.show.live import Console
from tilth.show.progress import WAITING_TO_LAND, ConsoleContext, Progress

PLAN = Plan(
    tasks=tuple(
        Task(id=f"T-{n:03d}", title=f"Part {n}", description="d", acceptance_criteria=("a",))
        for n in range(1, 10)
    )
)


def story(*told: tuple[Payload, str]) -> list[Event]:
    tape = Tape()
    start = session_start().model_copy(update={"settings": {"TILTH_JOBS": "2"}})
    return [tape.event(start, None), *(tape.event(payload, task) for payload, task in told)]


def begun(task: str) -> tuple[Payload, str]:
    return ContextReset(agent="worker-1", base=SHA, reason="task started"), task


def rows(events: list[Event]) -> list[str]:
    now = Progress(ConsoleContext(plan=PLAN))
    for event in events:
        now.take(event)
    moment = Moment(elapsed=60, doing_for=0, lanes={"T-001": (12.0, None)})
    drawn = Footer(Brush(lambda: 100)).rows(now, moment)
    return drawn.split("\n")


def test_each_lane_has_a_row_of_its_own() -> None:
    events = story(
        begun("T-001"),
        begun("T-002"),
        (model_call(uses("bash", "c1", command="make test")), "T-001"),
        (tool_call("bash", command="make test"), "T-001"),
        (validator(phase="base", passed=False), "T-002"),
    )
    first, second, spent = rows(events)
    assert "T-001" in first
    assert "bash: make test" in first
    assert "12" in first
    assert "T-002" in second
    assert "validators before the work" in second
    assert "to go" in spent


def test_what_was_accepted_says_that_it_waits_for_its_turn() -> None:
    events = story(begun("T-001"), begun("T-002"), (verdict(), "T-002"))
    assert WAITING_TO_LAND in rows(events)[-2]


def test_a_task_that_is_done_has_no_row_any_more() -> None:
    events = story(
        begun("T-001"), (validator(phase="base"), "T-001"), (SAMPLES["task_done"], "T-001")
    )
    assert not any("T-001" in row for row in rows(events)[1:])


def test_there_are_never_more_than_eight_rows() -> None:
    told = [(validator(phase="base"), task.id) for task in PLAN.tasks]
    drawn = rows(story(*told))
    assert len(drawn) == 8
    assert "and 3 more" in drawn[-2]


def test_a_line_of_a_live_screen_says_whose_it_is_and_a_task_is_announced_once() -> None:
    stream = io.StringIO()
    console = Console(stream, ConsoleContext(plan=PLAN), live=True, columns=lambda: 120)
    told = [
        begun("T-001"),
        begun("T-002"),
        (validator(phase="base", passed=False), "T-001"),
        (validator(phase="base", passed=False), "T-002"),
        (validator(), "T-001"),
    ]
    for event in story(*told):
        console.take(event)
    console.close()
    text = stream.getvalue()
    assert text.count("T-001 Part 1") == 1
    assert text.count("T-002 Part 2") == 1
    assert "T-001 pytest" in text
    assert "T-002 pytest" in text

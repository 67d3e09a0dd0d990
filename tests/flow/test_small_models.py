"""Small models: habits seen in real ones, played to a good end or to a short, honest failure.

Each habit is a deterministic function of what the model was sent. Where an answer of the harness
can cure the habit, the model heeds it; what it cannot heed must end soon.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, solution, solve, submit
from support.light_gate import LIGHT
from support.messages_api import Answer, MessagesServer, Request, call, say

from tilth.session.start import start

Habit = Callable[["Heard"], Answer]
SEED = "tests/test_t001_add.py"
# So that a bare `pytest` finds the modules at the root.
ON_PATH = "[tool.pytest.ini_options]\npythonpath = ['.']\n"


@dataclass(frozen=True)
class Heard:
    """Hold what a model was sent last, and how often it was asked."""

    turn: int
    first: str
    last: str


def heard(request: Request) -> Heard:
    messages = request.body["messages"]
    texts = [
        "\n".join(str(block.get("text") or block.get("content")) for block in message["content"])
        for message in messages
    ]
    return Heard(turn=len(messages) // 2, first=texts[0], last=texts[-1])


def play(
    tmp_path: Path, habit: Habit, evaluator: Callable[[], Answer] = accept, *, gate: str = LIGHT
) -> Run:
    """Let a habit work on one task, and an evaluator that says one thing judge it."""
    site = Site.make(tmp_path, {"pyproject.toml": f"{gate}\n{ON_PATH}"})

    def answer(request: Request) -> Answer:
        return habit(heard(request)) if request.role == "worker" else evaluator()

    with MessagesServer(answer) as server:
        environ = site.environ(server.url, TILTH_MAX_ITERATIONS_PER_TASK="20")
        done = start(site.bundle(1), site.repo, {}, new=True, environ=environ)
    return Run(site, getattr(done, "exit_code", done), tuple(server.requests))


def calls(run: Run) -> tuple[int, int]:
    """Count what a task cost: calls of the worker, calls of the evaluator."""
    return len(run.asked("worker")), len(run.asked("evaluator"))


def does_what_the_last_line_says(seen: Heard) -> Answer:
    """Do what was named last, as small models do."""
    lines = seen.last.strip().splitlines()
    if "submit_case" in lines[-1]:
        return submit(1)
    if seen.turn == 0:
        return call("read_file", path=SEED)
    return solve(1) if seen.turn == 1 else submit(1)


def submits_first(seen: Heard) -> Answer:
    """Hand in at once, and change something only when told to by the tool's name."""
    return solve(1) if "`write_file`" in seen.last else submit(1)


def submits_always(seen: Heard) -> Answer:
    return call("submit_case", summary="Done.", ac_coverage=[])


def repeats(seen: Heard) -> Answer:
    """Read the same file until the harness says that it will give nothing else."""
    if "Not run" in seen.last:
        return solve(1)
    return submit(1) if "created feature1.py" in seen.last else call("read_file", path=SEED)


def repeats_always(seen: Heard) -> Answer:
    return call("bash", command="git checkout main")


def blocks_first(seen: Heard) -> Answer:
    """Give up at once, and try only when told what to try."""
    if seen.turn == 0:
        return call("raise_blocker", reason="There is no module feature1.")
    return solve(1) if seen.turn == 1 else submit(1)


def writes_calls_as_text(seen: Heard) -> Answer:
    """Write the call into the answer, and make it when told how."""
    if "written as text" in seen.last:
        return solve(1)
    if seen.turn == 0:
        arguments = {"path": "feature1.py", "content": solution(1)}
        return say(f"```json\n{json.dumps({'name': 'write_file', 'arguments': arguments})}\n```")
    return submit(1)


def writes_text_always(seen: Heard) -> Answer:
    return say('{"name": "read_file", "arguments": {"path": "feature1.py"}}')


def writes_wrong_types(seen: Heard) -> Answer:
    """Get everything right but the form."""
    if seen.turn == 0:
        return solve(1)
    item = {"criterion": "criterion 1: adds", "addressed_by": "feature1.py line 1"}
    return call(
        "submit_case", summary="Done.", ac_coverage=json.dumps([item]), uncertainties="none"
    )


def writes_literal_line_breaks(seen: Heard) -> Answer:
    """Send a file as one line, and send it again when told so."""
    if seen.turn == 0:
        return call("write_file", path="feature1.py", content=solution(1).replace("\n", "\\n"))
    return solve(1) if "one single line" in seen.last else submit(1)


def verifies_for_ever(seen: Heard) -> Answer:
    """Check again in other words until told that it is enough."""
    if "passed on exactly these files" in seen.last:
        return submit(1)
    ways = [f"pytest -q {SEED}", f"python -m pytest {SEED} -v", f"pytest {SEED} -q | tail -3"]
    return solve(1) if seen.turn == 0 else call("bash", command=ways[(seen.turn - 1) % 3])


def rejects_in_words() -> Answer:
    return call("submit_verdict", concern="Negative numbers are wrong.", verdict="Reject")


@pytest.mark.parametrize(
    ("habit", "cost"),
    [
        (does_what_the_last_line_says, (3, 1)),
        (submits_first, (3, 1)),
        (repeats, (5, 1)),
        (blocks_first, (3, 1)),
        (writes_calls_as_text, (3, 1)),
        (writes_wrong_types, (2, 1)),
        (verifies_for_ever, (4, 1)),
    ],
)
def test_a_habit_that_heeds_an_answer_comes_to_a_good_end(
    tmp_path: Path, habit: Habit, cost: tuple[int, int]
) -> None:
    run = play(tmp_path, habit)
    assert run.code == 0
    assert calls(run) == cost


def test_a_good_end_is_one_that_the_whole_gate_lets_pass(tmp_path: Path) -> None:
    run = play(tmp_path, writes_literal_line_breaks, gate="")
    assert run.code == 0
    assert calls(run) == (3, 1)


@pytest.mark.parametrize(
    ("habit", "reason", "cost"),
    [
        (submits_always, "no_progress", (3, 0)),
        (repeats_always, "no_progress", (6, 0)),
        (writes_text_always, "no_case", (3, 0)),
    ],
)
def test_a_habit_that_heeds_nothing_fails_soon_and_says_why(
    tmp_path: Path, habit: Habit, reason: str, cost: tuple[int, int]
) -> None:
    run = play(tmp_path, habit)
    assert run.code == 1
    assert run.of("task_failed")[0]["reason"] == reason
    assert calls(run) == cost


def test_a_reject_in_a_small_models_form_is_never_taken_for_anything_else(tmp_path: Path) -> None:
    run = play(tmp_path, lambda seen: solve(1) + submit(1), rejects_in_words)
    assert run.code == 1
    first = run.ledger(1)[0]
    assert (first["verdict"], first["source"]) == ("reject", "evaluator")
    assert first["rejection_category"] == "acceptance_gap"
    assert first["next_step"] == first["concern"] == "Negative numbers are wrong."
    assert all("accept" not in entry["verdict"] for entry in run.ledger(1))
    asked = run.last_user_text("evaluator", 1)
    assert "scope_creep" in asked
    assert "spec_violation" in asked

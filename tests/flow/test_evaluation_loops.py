"""Verification loops: a check repeated on the same state is answered with a reminder."""

from __future__ import annotations

from pathlib import Path

import pytest
from messages_api import Answer, call
from sites import Run, Site, accept, solve, submit, write

CHECK = "python3 -m compileall -q feature1.py"
REMINDER = "already verified"
# It ends with another exit status each time, and leaves only a cache behind.
FICKLE = "mkdir -p .cache; echo >> .cache/n; exit $(wc -l < .cache/n)"
REWRITE = "cp feature1.py copy && mv copy feature1.py && touch -d '2001-01-01' feature1.py"


def bash(command: str, **more: object) -> Answer:
    return call("bash", command=command, **more)


def run_of(tmp_path: Path, *steps: Answer) -> Run:
    site = Site.make(tmp_path)
    return site.run(site.bundle(1), worker=[*steps, submit(1)], evaluator=[accept()])


def reminded(run: Run) -> list[bool]:
    """Tell for every bash call whether its result carried the reminder."""
    return [
        REMINDER in result["content"]
        for result in run.of("tool_result")
        if result["name"] == "bash"
    ]


def test_the_same_check_on_the_same_state_is_reminded_once_per_repeat(tmp_path: Path) -> None:
    run = run_of(tmp_path, solve(1) + bash(CHECK), bash(CHECK), bash(CHECK, timeout_seconds=9))
    assert run.code == 0
    assert reminded(run) == [False, True, True]
    told = run.last_user_text("worker", 2)
    assert "the next step is `submit_case`" in told
    assert told == run.of("tool_result")[2]["content"]


def test_a_formatter_that_rewrites_the_same_content_changes_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, solve(1) + bash(CHECK), bash(REWRITE), bash(CHECK), bash(REWRITE))
    assert reminded(run) == [False, False, True, True]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            [bash(CHECK), write("feature1.py", "def add1(x):\n    return 1 + x\n"), bash(CHECK)],
            id="after an edit by a tool",
        ),
        pytest.param(
            [bash(CHECK), bash("echo '# more' >> feature1.py"), bash(CHECK)],
            id="after an edit by a command",
        ),
        pytest.param([bash(CHECK), bash(f"{CHECK} README.md")], id="another command"),
        pytest.param([bash(FICKLE)] * 2, id="another outcome"),
        pytest.param([bash("date >> log.txt")] * 2, id="a command that changes files"),
    ],
)
def test_it_does_not_fire_where_something_is_new(tmp_path: Path, steps: list[Answer]) -> None:
    run = run_of(tmp_path, solve(1), *steps)
    assert run.code == 0
    assert len(reminded(run)) >= 2
    assert not any(reminded(run))


def test_caches_that_a_check_leaves_behind_do_not_count(tmp_path: Path) -> None:
    check = (
        "mkdir -p .pytest_cache __pycache__; date +%N > .pytest_cache/x; date +%N > __pycache__/y"
    )
    run = run_of(tmp_path, solve(1) + bash(check), bash(check))
    assert reminded(run) == [False, True]


def test_a_repeated_failure_is_told_to_change_something_first(tmp_path: Path) -> None:
    run = run_of(tmp_path, solve(1) + bash("exit 3"), bash("exit 3"))
    assert "Change something first" in run.last_user_text("worker", 2)


def test_a_command_that_timed_out_verifies_nothing(tmp_path: Path) -> None:
    slow = bash("sleep 9", timeout_seconds=1)
    assert reminded(run_of(tmp_path, solve(1) + slow, slow)) == [False, False]

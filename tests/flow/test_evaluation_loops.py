"""Verification loops: checking again what was seen to pass, and calling the same thing again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, reject, solve, submit, write
from support.light_gate import LIGHT
from support.messages_api import Answer, Reply, call

SEED = "tests/test_t001_add.py"
# So that a bare `pytest` finds the modules at the root.
ON_PATH = {"pyproject.toml": f"{LIGHT}\n[tool.pytest.ini_options]\npythonpath = ['.']\n"}
PYTEST = f"python -m pytest -q {SEED}"
REMINDER = "already verified"
SMOKE = 'python -c "from feature1 import add1; print(add1(1))"'
REWRITE = "cp feature1.py copy && mv copy feature1.py && touch -d '2001-01-01' feature1.py"


def bash(command: str, **more: object) -> Answer:
    return call("bash", command=command, **more)


def run_of(tmp_path: Path, *steps: Reply, files: dict[str, str] | None = None) -> Run:
    site = Site.make(tmp_path, ON_PATH | (files or {}))
    return site.run(site.bundle(1), worker=[*steps, submit(1)], evaluator=[accept()])


def reminded(run: Run) -> list[bool]:
    """Tell for every bash call whether its result carried the reminder."""
    return [
        REMINDER in result["content"]
        for result in run.of("tool_result")
        if result["name"] == "bash"
    ]


def test_the_pattern_that_costs_most_is_reminded_at_the_first_redundant_check(
    tmp_path: Path,
) -> None:
    run = run_of(
        tmp_path,
        solve(1),
        bash(f"pytest -q {SEED}"),
        bash(f"python -m pytest {SEED} -v"),
        bash(SMOKE),
        bash(f"pytest {SEED} -q | tail -3"),
        bash("cat feature1.py"),
    )
    assert run.code == 0
    assert reminded(run) == [False, True, True, True, False]
    assert "the next step is `submit_case`" in run.last_user_text("worker", 3)
    summary = json.loads((run.session / "summary.json").read_text())
    assert summary["tasks"]["T-001"]["verification_tail"] == 5


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            [bash(PYTEST), write("feature1.py", "def add1(x):\n    return 1 + x\n"), bash(PYTEST)],
            id="after an edit by a tool",
        ),
        pytest.param(
            [bash(PYTEST), bash("echo '# more' >> feature1.py"), bash(PYTEST)],
            id="after an edit by a command",
        ),
        pytest.param([bash("cat feature1.py"), bash("cat feature1.py")], id="a file read twice"),
        pytest.param([bash("exit 3"), bash("exit 3")], id="a failing command"),
        pytest.param(
            [bash("pytest -q tests/nothing.py"), bash("pytest -q tests/nothing.py")],
            id="a failing check",
        ),
        pytest.param([bash(PYTEST), bash("ruff check feature1.py")], id="another kind of check"),
        pytest.param(
            [bash("pytest -q tests/nothing.py | tail"), bash("pytest -q tests/nothing.py | tail")],
            id="a failing check behind a pipe",
        ),
        pytest.param([bash(SMOKE)], id="the first check of all"),
        pytest.param(
            [bash(PYTEST), bash("python -c \"print(open('feature1.py').read())\"")],
            id="a file read by python",
        ),
    ],
)
def test_it_does_not_fire_where_nothing_was_verified_again(
    tmp_path: Path, steps: list[Answer]
) -> None:
    run = run_of(tmp_path, solve(1), *steps)
    assert run.code == 0
    assert not any(reminded(run))


def test_a_formatter_that_rewrites_the_same_content_changes_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path, solve(1) + bash(PYTEST), bash(REWRITE), bash(PYTEST))
    assert reminded(run) == [False, False, True]


def test_a_wider_test_run_is_no_repetition_unless_it_runs_the_same_tests(tmp_path: Path) -> None:
    more = {"tests/test_more.py": "def test_more():\n    assert True\n"}
    run = run_of(tmp_path, solve(1) + bash(PYTEST), bash("pytest -q"), bash(PYTEST), files=more)
    assert reminded(run) == [False, False, True]


def test_it_works_in_a_tree_of_many_files(tmp_path: Path) -> None:
    many = {f"data/{n % 50}/{n}.txt": "x\n" for n in range(4_100)}
    run = run_of(tmp_path, solve(1), bash(PYTEST), bash(PYTEST), files=many)
    assert reminded(run) == [False, True]


def test_a_test_run_without_tests_is_no_pass(tmp_path: Path) -> None:
    run = run_of(
        tmp_path, solve(1), bash("python -m unittest || true"), bash("python -m unittest; true")
    )
    assert reminded(run) == [False, False]
    results = [one["content"] for one in run.of("tool_result") if one["name"] == "bash"]
    assert all("No test was run" in content for content in results)


def test_a_command_that_timed_out_verifies_nothing(tmp_path: Path) -> None:
    slow = bash("sleep 9", timeout_seconds=1)
    assert reminded(run_of(tmp_path, solve(1) + slow, slow)) == [False, False]


def test_a_third_identical_call_is_answered_from_the_record(tmp_path: Path) -> None:
    site = Site.make(tmp_path, ON_PATH)
    marks = tmp_path / "marks"
    counted = bash(f"echo run >> {marks}; cat README.md")
    run = site.run(
        site.bundle(1),
        worker=[counted, counted, counted, counted, solve(1) + submit(1)],
        evaluator=[accept()],
    )
    assert run.code == 0
    assert marks.read_text() == "run\nrun\n"
    told = [result for result in run.of("tool_result") if result["name"] == "bash"]
    assert [result["is_error"] for result in told] == [False, False, True, True]
    assert "# Sample" in told[2]["content"]
    assert "Not run: this is call number 3 in a row" in told[2]["content"]


def test_the_sixth_identical_call_ends_the_task(tmp_path: Path) -> None:
    site = Site.make(tmp_path, ON_PATH)
    run = site.run(site.bundle(1), worker=[call("read_file", path="README.md")] * 9)
    assert run.code == 1
    (failed,) = run.of("task_failed")
    assert (failed["reason"], failed["iterations"]) == ("no_progress", 6)
    assert run.of("stop")[0]["reason"] == "no_progress"


def test_calls_that_change_files_or_have_others_between_them_are_never_refused(
    tmp_path: Path,
) -> None:
    grows, looks = bash("date >> log.txt"), bash("cat README.md")
    run = run_of(tmp_path, *[grows] * 7, *[looks, call("glob", pattern="*.py")] * 4, solve(1))
    assert run.code == 0
    assert not any("Not run" in result["content"] for result in run.of("tool_result"))


def test_the_tail_counts_only_what_lies_between_the_last_edit_and_its_case(tmp_path: Path) -> None:
    site = Site.make(tmp_path, ON_PATH)
    run = site.run(
        site.bundle(1),
        worker=[
            bash("ls"),
            solve(1),
            bash(PYTEST),
            bash("ls tests"),
            submit(1),
            write("feature1.py", "def add1(x):\n    return 1 + x\n") + submit(1),
        ],
        evaluator=[reject(), accept(resolved=["C1"])],
    )
    summary = json.loads((run.session / "summary.json").read_text())
    assert summary["tasks"]["T-001"]["verification_tail"] == 2

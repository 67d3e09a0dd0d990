"""Checks: what counts as a run of tests, and that nothing a worker writes takes long to read."""

from __future__ import annotations

import pytest

from tilth.task.checks import failure_in, runs_tests, shows_passing

FILE = "tests/test_a.py"
PASSED = "3 passed in 0.02s"


@pytest.mark.parametrize(
    "command",
    [
        f"pytest {FILE}",
        f"python3.11 -B -m pytest -q {FILE} --tb=short",
        f"cd . && PYTHONPATH=. py.test {FILE} 2>&1 | tail -5",
        f"timeout 60 .venv/bin/pytest {FILE}; echo done",
        f"env A=b uv run pytest {FILE}",
        f'bash -c "pytest {FILE}"',
        f"ls\npytest ./{FILE}\n",
        "pytest tests/test_*.py",
    ],
)
def test_a_run_is_known_in_every_spelling(command: str) -> None:
    assert runs_tests(command)
    assert shows_passing(command, f"...\n{PASSED}", [FILE])


@pytest.mark.parametrize(
    "command", ["pip install pytest", f"cat {FILE}", "which pytest", "grep -rn pytest .", "ls"]
)
def test_what_only_names_a_runner_runs_nothing(command: str) -> None:
    assert not runs_tests(command)
    assert not shows_passing(command, PASSED, [FILE])


def test_a_projects_own_validator_runs_tests() -> None:
    assert runs_tests("make lint | tail -2", [("make", "lint")])
    assert not runs_tests("make lint")


@pytest.mark.parametrize(
    "output",
    [
        "2 passed, 1 deselected in 0.02s",
        "2 passed, 1 skipped in 0.02s",
        "1 failed, 2 passed in 0.02s",
        "==== 3 passed in 0.02s ====\n==== 1 failed in 0.01s ====",
        "no tests ran in 0.01s",
        "3 passed",
        "",
    ],
)
def test_whatever_did_otherwise_than_pass_shows_nothing(output: str) -> None:
    assert not shows_passing(f"pytest {FILE}", output, [FILE])


def test_a_file_that_was_not_given_must_stand_in_the_output_as_passed() -> None:
    assert shows_passing("pytest", f"{FILE} ...   [100%]\n==== {PASSED} ====", [FILE])
    assert shows_passing("pytest -v", f"{FILE}::test_b PASSED [100%]\n{PASSED}", [FILE])
    assert not shows_passing("pytest -q", f"...\n{PASSED}", [FILE])
    assert not shows_passing("pytest tests/test_b.py", f"{FILE}:3: in test\n{PASSED}", [FILE])
    assert not shows_passing(f"pytest {FILE}::test_b", PASSED, [FILE])
    assert not shows_passing(f"pytest {FILE}", PASSED, [FILE, "tests/test_more.py"])


def test_a_failure_is_named_by_its_tests_or_else_by_its_command() -> None:
    assert failure_in("pytest -v | tail", 0, f"FAILED {FILE}::test_b - x\n") == f"{FILE}::test_b"
    assert failure_in("make  all", 2, "no rule") == "make all"
    assert failure_in("ls", 0, "") is None
    assert failure_in("cat pytest.log", 0, f"FAILED {FILE}::test_b - x\n") is None


@pytest.mark.parametrize(
    "text", ["\n", "=\n", "a=b ", "env ", "timeout 1 ", "; ", "1 a in ", "FAILED\n", "python -m "]
)
def test_a_text_of_any_kind_is_read_once(text: str) -> None:
    long = text * 30_000
    assert not runs_tests(long + "x")
    assert not shows_passing(f"pytest {FILE}", long, [FILE])
    assert failure_in("x", 0, long) is None

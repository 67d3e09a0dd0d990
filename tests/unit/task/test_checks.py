"""Checks: the same check is known however it is spelt, and believed only where its end is seen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tilth.task.checks import CheckKind, checks_in, passed, ran_none
from tilth.task.watch import Verified

FILE = "tests/test_a.py"
VALIDATOR = ("make", "lint")


@pytest.mark.parametrize(
    "command",
    [
        f"pytest {FILE}",
        f"pytest -q {FILE}",
        f"py.test -vv ./{FILE}",
        f"python -m pytest {FILE} -v",
        f"python3.11 -B -m pytest -q {FILE} --tb=short",
        f"python -m pytest {FILE} --tb short -p no:cacheprovider",
        f"cd . && PYTHONPATH=. pytest {FILE} 2>&1 | tail -5",
        f"timeout 60 .venv/bin/pytest {FILE}; echo done",
        f"env A=b uv run pytest {FILE}",
        f"poetry run python -m pytest {FILE}",
        f'bash -c "pytest {FILE}"',
        f"ls\npytest {FILE}\n",
    ],
)
def test_one_check_is_known_in_every_spelling(command: str) -> None:
    (check,) = checks_in(command)
    assert (check.kind, check.tool, check.targets) == (CheckKind.TESTS, "pytest", {FILE})


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("ruff check .", CheckKind.LINT),
        ("python -m ruff check src", CheckKind.LINT),
        ("ruff format --check", CheckKind.FORMAT),
        ("mypy --strict -p x", CheckKind.TYPES),
        ("python -m unittest discover", CheckKind.TESTS),
        ('python -c "from cart import total; print(total([]))"', CheckKind.SMOKE),
        ('python3 -c "assert 1 + 1 == 2"', CheckKind.SMOKE),
        ("python - <<'EOF'\nimport cart\nprint(cart.total([]))\nEOF", CheckKind.SMOKE),
        ("make lint", CheckKind.VALIDATOR),
        ("make lint | tail -2", CheckKind.VALIDATOR),
    ],
)
def test_each_kind_of_check_is_told(command: str, kind: CheckKind) -> None:
    assert [check.kind for check in checks_in(command, [VALIDATOR])] == [kind]


@pytest.mark.parametrize(
    "command",
    [
        "cat tests/test_a.py",
        "grep -rn pytest .",
        "echo pytest",
        "git diff",
        "ls",
        "python cart.py",
        "python -c \"print(open('cart.py').read())\"",
        'python -c "import os, sys; print(sys.path)"',
        "pip show pytest",
        "sed -n 1,20p cart.py",
        "make",
        "ruff --version",
        "unbalanced 'quote",
        "",
    ],
)
def test_reading_and_looking_is_no_check(command: str) -> None:
    assert checks_in(command, [VALIDATOR]) == ()


@pytest.mark.parametrize(
    ("command", "exit_code", "output", "seen"),
    [
        ("pytest", 0, "3 passed in 0.01s", True),
        ("pytest | tail -1", 0, "3 passed in 0.01s", True),
        ("pytest | tail -1", 0, "1 failed, 2 passed in 0.01s", False),
        ("pytest || true", 0, "1 error in 0.01s", False),
        ("pytest > /dev/null", 0, "(no output)", False),
        ("pytest", 5, "no tests ran in 0.01s", False),
        ("python -m unittest", 0, "Ran 2 tests in 0.001s\n\nOK", True),
        ("python -m unittest", 0, "Ran 0 tests in 0.000s\n\nOK", False),
        ("ruff check .", 0, "All checks passed!", True),
        ("ruff check -q .", 0, "(no output)", True),
        ("ruff check . | head", 0, "a.py:1:1: F401 unused", False),
        ('python -c "assert f()"', 1, "Traceback (most recent call last):", False),
    ],
)
def test_a_check_has_passed_only_where_its_end_is_seen(
    command: str, exit_code: int, output: str, seen: bool
) -> None:
    assert passed(command, checks_in(command), exit_code, output) is seen


@pytest.mark.parametrize(
    "output", ["Ran 0 tests in 0.000s\n\nOK", "no tests ran in 0.01s", "collected 0 items"]
)
def test_a_run_that_ran_no_test_is_told(output: str) -> None:
    assert ran_none(checks_in("python -m unittest"), output)
    assert not ran_none(checks_in("python -m unittest"), "Ran 1 test in 0.1s\n\nOK")
    assert not ran_none(checks_in("cat log"), output)


def remark(verified: Verified, command: str, files: str | None = "f1", tests: int = 1) -> bool:
    output = f"{tests} passed in 0.01s"
    return verified.remark(command, checks_in(command), 0, output, files) is not None


def test_what_was_seen_to_pass_is_verified_until_the_files_change() -> None:
    verified = Verified()
    assert not remark(verified, f"pytest {FILE}")
    assert remark(verified, f"python -m pytest -v {FILE}")
    assert not remark(verified, f"pytest {FILE}", files="f2")
    # Back at an earlier content, what was seen there still holds.
    assert remark(verified, f"pytest {FILE}")


def test_a_wider_run_shows_more_and_a_narrower_one_shows_nothing_new() -> None:
    verified = Verified()
    assert not remark(verified, f"pytest {FILE}", tests=1)
    assert not remark(verified, "pytest tests/test_b.py", tests=1)
    assert not remark(verified, "pytest", tests=5)
    assert remark(verified, f"pytest {FILE} -k one")
    assert remark(verified, "pytest tests/test_b.py::test_x")


def test_a_wider_run_that_ran_the_same_tests_shows_nothing_new() -> None:
    verified = Verified()
    assert not remark(verified, f"pytest {FILE}", tests=3)
    assert remark(verified, "pytest", tests=3)


def test_without_a_fingerprint_nothing_is_known() -> None:
    verified = Verified()
    assert not remark(verified, "pytest", files=None)
    assert not remark(verified, "pytest")


@pytest.mark.parametrize(
    "command",
    [
        "python - <<A\nimport cart\nA\npython - <<B\nimport cart\nB",
        "python - <<A\nimport cart\nA\npython <<-'B'\nimport cart\n\tB",
        "cat <<A > x\nA\nA && python - <<A\nimport cart\nA\npython -c 'import cart'",
    ],
)
def test_several_here_documents_are_each_told(command: str) -> None:
    assert [check.kind for check in checks_in(command)] == [CheckKind.SMOKE] * 2


def test_no_command_is_read_for_ever() -> None:
    # In a process of its own: looking for each end anew takes hours.
    read = "from tilth.task.checks import checks_in; checks_in('<<A\\n' * 3000 + '\\n' * 10000)"
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", read], cwd=root, check=True, timeout=120)

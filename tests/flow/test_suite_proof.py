"""The proof of an evaluator's suite finds out every change that is not what it is said to be."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

import pytest
from support.suite_case import (
    ABOVE_ZERO,
    HEADER,
    HIDDEN,
    LAST_BIT,
    REMAINDER,
    VISIBLE,
    patch,
    write_case,
)

from tilth.evalcheck.cases import load_suite
from tilth.evalcheck.proof import prove_base, prove_change, report

ROOT = Path(__file__).parents[2]


def proven(suite: Path) -> tuple[int, list[str]]:
    """Prove a suite; give the exit code and the lines."""
    out = io.StringIO()
    code = report(load_suite(suite), out)
    return code, out.getvalue().splitlines()


def test_a_suite_that_holds_is_proven_with_totals_by_category(tmp_path: Path) -> None:
    write_case(tmp_path, {"right/last-bit.patch": patch(LAST_BIT)})
    code, lines = proven(tmp_path)
    assert lines == [
        "even-numbers (tests_pass_but_wrong): 2 right, 1 wrong: all hold",
        "scope_creep: 0 cases, 0 right, 0 wrong: all hold",
        "acceptance_gap: 0 cases, 0 right, 0 wrong: all hold",
        "weak_test: 0 cases, 0 right, 0 wrong: all hold",
        "tests_pass_but_wrong: 1 cases, 2 right, 1 wrong: all hold",
        "half_finished: 0 cases, 0 right, 0 wrong: all hold",
        "spec_violation: 0 cases, 0 right, 0 wrong: all hold",
        "in all: 1 cases, 2 right, 1 wrong: all hold",
    ]
    assert code == 0


GREEN_BASE = "def double(n):\n    return 2 * n\n\n\ndef is_even(n):\n    return n % 2 == 0\n"
NEW_FILE = """It adds a file.

diff --git a/more.py b/more.py
new file mode 100644
--- /dev/null
+++ b/more.py
@@ -0,0 +1 @@
+{line}
"""


# A change that was written down as what it is not, and what is said of it.
MISTAKEN = {
    "wrong/last-bit": patch(LAST_BIT),
    "wrong/never": patch("    return False\n"),
    "right/misfit": patch(LAST_BIT).replace("2 * n", "3 * n"),
    "right/positive": patch("    return n % 2 == 0 < n\n"),
    "wrong/names": patch("    return unknown or n % 2 == 0\n"),
    "right/with-test": "It brings a test that fails.\n\n"
    + patch(REMAINDER).split("\n\n", 1)[1]
    + NEW_FILE.format(line="def test_own(): assert False")
    .split("\n\n", 1)[1]
    .replace("more.py", "tests/test_own.py"),
}
OTHERS: dict[str, dict[str, str]] = {
    "green-base": {
        "base/numbers_.py": GREEN_BASE,
        "right/remainder.patch": NEW_FILE.format(line="EVEN = 1"),
        "wrong/above-zero.patch": NEW_FILE.format(line="EVEN = 2"),
        "hidden/test_hidden_even.py": "def test_two():\n    from more import EVEN\n"
        "    assert EVEN == 1\n",
    },
    "no-tests": {"hidden/test_hidden_even.py": "# nothing\n"},
}


def write_named(suite: Path, name: str, changed: Mapping[str, str]) -> None:
    """Write a case of another name."""
    header = HEADER.replace("even-numbers", name)
    write_case(suite / "made", {"case.toml": header, **changed}).rename(suite / name)
    (suite / "made").rmdir()


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, list[str]]:
    """Prove a suite of three cases, none of which holds."""
    suite = tmp_path_factory.mktemp("faulty")
    write_case(suite, {f"{place}.patch": text for place, text in MISTAKEN.items()})
    for name, changed in OTHERS.items():
        write_named(suite, name, changed)
    return proven(suite)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            "even-numbers wrong/last-bit: said to be wrong, but no hidden test fails",
            "1 passed",
        ),
        (
            "even-numbers wrong/never: said to pass the visible tests, but does not",
            "FAILED tests/test_t001_even.py::test_even",
        ),
        ("even-numbers right/misfit: the patch does not fit base/", "patch does not apply"),
        (
            "even-numbers right/positive: said to be right, but a test fails",
            "FAILED tests/test_hidden_even.py::test_zero_and_below",
        ),
        ("even-numbers wrong/names: ruff finds it out", "unknown"),
        # The project's own tests and those of the change count.
        (
            "even-numbers right/with-test: said to be right, but a test fails",
            "FAILED tests/test_own.py::test_own",
        ),
        ("green-base base: the visible tests are not red before the change", "1 passed"),
        (
            "no-tests wrong/above-zero: said to be wrong, but no hidden test fails",
            "no tests ran",
        ),
    ],
    ids=[
        *("fails-nothing", "found-out", "no-fit", "right-fails", "lint", "own-test"),
        *("green-base", "no-tests"),
    ],
)
def test_what_does_not_hold_is_named_with_what_was_said(
    faulty: tuple[int, list[str]], fault: str, said: str
) -> None:
    code, lines = faulty
    assert code == 1
    after = lines[lines.index(fault) + 1 :]
    own = takewhile(lambda line: line.startswith("    "), after)
    assert said in "\n".join(own)


def test_nothing_else_is_named_and_all_of_it_is_counted(faulty: tuple[int, list[str]]) -> None:
    _, lines = faulty
    heads = [line for line in lines if not line.startswith("    ")]
    counted = [line for line in heads if line.endswith("DO NOT HOLD")]
    assert [(line.split()[0], line.split(": ")[-1]) for line in counted] == [
        ("even-numbers", "6 DO NOT HOLD"),
        ("green-base", "1 DO NOT HOLD"),
        ("no-tests", "1 DO NOT HOLD"),
    ]
    named = [line.split(":")[0] for line in heads if re.match(r"\S+ (base|right/|wrong/)", line)]
    mistaken = [f"even-numbers {place}" for place in MISTAKEN]
    assert sorted(named) == sorted([*mistaken, "green-base base", "no-tests wrong/above-zero"])
    assert lines[-1].endswith(": 8 do not hold")


def test_a_broken_case_is_named_and_skipped_and_the_others_are_proven(tmp_path: Path) -> None:
    write_case(tmp_path, {"case.toml": None}).rename(tmp_path / "broken")
    write_case(tmp_path)
    code, lines = proven(tmp_path)
    assert code == 1
    assert lines[0] == "broken: case.toml: cannot be read: No such file or directory (skipped)"
    assert lines[1].endswith("all hold")


def test_a_test_that_never_ends_proves_nothing(tmp_path: Path) -> None:
    endless = "import time\n\n\ndef test_for_ever():\n    time.sleep(600)\n"
    write_case(
        tmp_path,
        {"visible/test_t001_even.py": endless, "hidden/test_hidden_even.py": endless},
    )
    (case,) = load_suite(tmp_path).cases
    for fault in (prove_base(case, timeout_s=2), prove_change(case, case.wrongs[0], timeout_s=2)):
        assert fault is not None
        assert fault.what.endswith("(stopped: it took too long)")


def test_modules_are_found_below_src(tmp_path: Path) -> None:
    moved = {
        "base/numbers_.py": None,
        "base/src/numbers_.py": "def double(n):\n    return 2 * n\n",
        "right/remainder.patch": patch(REMAINDER).replace("/numbers_", "/src/numbers_"),
        "wrong/above-zero.patch": patch(ABOVE_ZERO).replace("/numbers_", "/src/numbers_"),
    }
    write_case(tmp_path, moved)
    assert proven(tmp_path)[0] == 0


def test_the_callers_surroundings_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = tmp_path / "around"
    around.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=around, check=True)
    monkeypatch.setattr("tempfile.tempdir", str(around))
    monkeypatch.setenv("PYTEST_ADDOPTS", "--collect-only")
    monkeypatch.setenv("PYTHONPATH", str(around))
    (around / "numbers_.py").write_text("raise RuntimeError\n")
    write_case(tmp_path / "suite")
    assert proven(tmp_path / "suite")[0] == 0
    assert sorted(path.name for path in around.iterdir()) == [".git", "numbers_.py"]


def test_the_program_proves_the_directory_it_is_given(tmp_path: Path) -> None:
    write_case(tmp_path, {"hidden/test_hidden_even.py": HIDDEN, "base/README.md": VISIBLE})

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tilth.evalcheck.proof", *arguments]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    done = run(str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("in all: 1 cases, 1 right, 1 wrong: all hold\n")
    missing = run(str(tmp_path / "nowhere"))
    assert missing.returncode == 1
    assert "no such directory" in missing.stdout
    assert run("one", "two").returncode == 2

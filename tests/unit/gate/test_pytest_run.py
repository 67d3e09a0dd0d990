"""One run of pytest in an export: which of a project's options count, and what it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tilth.gate.export import Runtime, open_export
from tilth.gate.overlay import Overlay
from tilth.gate.pytest_config import pytest_setup
from tilth.gate.pytest_run import PytestEnd, run_pytest
from tilth.git.kept_trees import copy_tree
from tilth.sandbox.confinement import Access, Unconfined, environment

TESTS = """\
import pytest

@pytest.mark.slow
def test_slow(): assert not "slow"

def test_fast(pytestconfig):
    assert pytestconfig.getoption("own", None) in (None, "5")
    assert pytestconfig.getini("xfail_strict") is True
"""
OWN = "def pytest_addoption(parser): parser.addoption('--own')\n"


def ran(root: Path, addopts: str, *arguments: str, selects: bool = False) -> PytestEnd:
    """Run the tests of a project with such options, whatever plugins are kept out."""
    config = f"[pytest]\naddopts = -oxfail_strict=1 {addopts}\nmarkers = slow\n"
    project = {"pytest.ini": config, "conftest.py": OWN, "tests/test_a.py": TESTS}
    for path, text in project.items():
        (root / "p" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "p" / path).write_text(text)
    runtime = Runtime(
        export=lambda _, into: copy_tree(root / "p", into),
        confinement=Unconfined(),
        access=Access(),
        env=environment(os.environ, home=root, path_first=Path(sys.executable).parent),
        python=Path(sys.executable),
        ruff=Path("ruff"),
        scratch=root / "scratch",
    )
    setup = pytest_setup(lambda path: project.get(path, "").encode() or None, (), selects=selects)
    with open_export(runtime, "", Overlay()) as export:
        return run_pytest(export, arguments or ("tests/test_a.py",), setup, 60)


def endings(end: PytestEnd) -> dict[str, str]:
    assert end.run is not None, end.finished.output
    return {result.node.partition("::")[2]: result.ending for result in end.run.results}


BOTH = {"test_slow": "failed", "test_fast": "passed"}


@pytest.mark.parametrize(
    "addopts",
    [
        "-k nothing -m 'not slow' --deselect tests/test_a.py::test_fast --ignore=tests -x --lf",
        "-xvs --maxfail=1 --sw --ff --nf --pdb --trace --collect-only --tb long --color=yes",
        "--cov --cov-report=xml --cov=pkg --cov-fail-under 90 -n4 -n auto --dist loadfile --own 5",
        "--setup-plan --junitxml=/nowhere/x.xml --durations=3 --own=5 -p no:cacheprovider --sw",
        "--strict-markers --strict-config -W error --import-mode=importlib --randomly-seed 3",
    ],
)
def test_options_that_select_stop_or_measure_do_not_count(tmp_path: Path, addopts: str) -> None:
    end = ran(tmp_path, addopts)
    assert endings(end) == BOTH
    assert not list((tmp_path / "p").rglob("x.xml"))


def test_options_that_select_count_for_the_projects_own_tests(tmp_path: Path) -> None:
    found = ran(tmp_path, "-m 'not slow' -x --lf --cov pkg tests", selects=True)
    assert endings(found) == {"test_fast": "passed"}
    assert endings(ran(tmp_path, "-x", "-k", "slow", selects=True)) == {"test_slow": "failed"}


def test_a_later_limit_stops_at_the_first_failure(tmp_path: Path) -> None:
    end = ran(tmp_path, "--maxfail=2", "--maxfail=1", "tests/test_a.py")
    assert endings(end) == {"test_slow": "failed"}


def test_the_gates_modules_are_laid_out_below_their_own_directory_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    program = (
        "import pathlib, tilth.gate.target as target; "
        f"target.lay_out_modules(pathlib.Path({str(root)!r}))"
    )
    elsewhere = f"pycache_prefix={tmp_path / 'elsewhere'}"
    subprocess.run([sys.executable, "-B", "-X", elsewhere, "-c", program], check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["root"]

"""The demo and its replay where they are refused: one line, exit 2, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def tilth(*args: str, home: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        [sys.executable, "-m", "tilth", *args],
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_unknown_session_is_one_line_and_exit_2(tmp_path: Path) -> None:
    done = tilth("replay", "20990101", home=tmp_path, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_demo_that_cannot_write_its_home_is_one_line_and_exit_2(tmp_path: Path) -> None:
    (tmp_path / ".tilth").write_text("a file where a directory should be", encoding="utf-8")
    done = tilth("demo", "--fast", home=tmp_path, cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert ".tilth" in done.stderr


def test_a_python_that_is_called_by_a_way_round_runs_the_tests_all_the_same(tmp_path: Path) -> None:
    """Where `..` leads past a directory that no sandbox shows, the worker was blamed."""
    (tmp_path / "here").mkdir()
    (tmp_path / "venv").symlink_to(sys.prefix)
    done = subprocess.run(
        ["../venv/bin/python", "-m", "tilth", "demo", "--fast"],
        cwd=tmp_path / "here",
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 done" in done.stdout

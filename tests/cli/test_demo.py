"""The installed command: a demo and its replay, without key, network or settings."""

from __future__ import annotations

import os
import re
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


def test_a_newcomer_sees_a_demo_and_can_prove_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shown = tilth("demo", "--fast", "--keep", home=home, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "no key" in shown.stderr
    assert "all tasks are done" in shown.stdout
    assert [path.name for path in home.iterdir()] == [".tilth"]
    [log] = home.glob(".tilth/demo/*/sessions/*/events.jsonl")
    place = log.parents[2].name
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{6}", place)
    assert f"~/.tilth/demo/{place}" in shown.stdout
    assert oct(log.stat().st_mode & 0o777) == "0o600"
    [replay] = re.findall(r"(?m)^  (\S+ .* replay latest.*)$", shown.stdout)
    proven = subprocess.run(
        ["/bin/sh", "-c", f"{replay} --verify-only"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert proven.returncode == 0, proven.stderr
    assert "13/13 requests identical" in proven.stdout


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

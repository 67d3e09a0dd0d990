"""The commands: one file each, listed by what they are for, on one line each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tilth.cli.app import GROUPS, summary_of

ROOT = Path(__file__).parents[2]
# What the files of commands share, and the one that stands for no command at all.
NO_COMMAND = {"__init__", "app", "edge", "home", "options"}
COMMANDS = [name for names in GROUPS.values() for name in names]


def shown_help(columns: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-B", "-m", "tilth", "--help"],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": str(columns), "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_every_file_is_a_command_in_one_group() -> None:
    files = {path.stem for path in (ROOT / "tilth" / "cli").glob("*.py")} - NO_COMMAND
    assert sorted(name.replace("-", "_") for name in COMMANDS) == sorted(files)


def test_every_summary_fits_its_line_whole() -> None:
    shown = shown_help(80)
    for name in COMMANDS:
        (line,) = [line for line in shown if line.split()[:1] == [name]]
        assert line.endswith(f"  {summary_of(name)}")
        assert summary_of(name).endswith(".")
        assert len(line) <= 80
    assert [line for line in shown if line.rstrip(":") in GROUPS] == [f"{g}:" for g in GROUPS]

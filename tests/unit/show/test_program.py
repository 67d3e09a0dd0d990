"""The program's name: where a shell does not know it, a person is told what to type."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tilth.show.program import program, say_where_it_is


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the command of an environment that is on no PATH."""
    command = tmp_path / ".venv" / "bin" / "tilth"
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    command.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(command.with_name("python")))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    return command


def test_a_command_that_is_on_the_path_is_typed_by_its_name(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(beside.parent))
    assert program() == "tilth"


def test_one_that_is_not_is_typed_by_its_place(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert program() == ".venv/bin/tilth"
    monkeypatch.chdir("/usr")
    assert program() == str(beside)
    beside.unlink()
    assert program().endswith("python -m tilth")


def test_a_person_is_told_and_a_pipe_is_not(
    beside: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    say_where_it_is()
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stdout", Terminal())
    say_where_it_is()
    assert ".venv/bin/tilth" in capsys.readouterr().err

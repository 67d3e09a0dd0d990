"""A name that was given and is blank: refused, never taken for one that was left out.

It comes of a variable that is not set (`tilth take "$ID" --only "$TASKS"`), and what would be done
then is not what was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from tilth.cli.app import GROUPS, app

# A blank number is the default's; a blank text is refused, or means none, where it is read.
OWN_RULE = {"TEXT", "N", "[TASK] TEXT"}


def _ways(name: str) -> Iterator[tuple[str, ...]]:
    """Give every way to name something blank, one argument or option of a command at a time."""
    before: tuple[str, ...] = (name,)
    for parameter in typer.main.get_command(app).commands[name].params:  # type: ignore[attr-defined]
        is_named = not getattr(parameter, "is_flag", False) and parameter.metavar not in OWN_RULE
        if parameter.param_type_name == "argument":
            yield from [(*before, ""), (*before, " \t")] if is_named else []
            before = (*before, "x")
        elif is_named:
            yield (*before, parameter.opts[0], "")
            yield (*before, f"{parameter.opts[0]}=")


@pytest.mark.parametrize("command", [name for names in GROUPS.values() for name in names])
def test_a_blank_name_is_refused(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in _ways(command):
        done = CliRunner().invoke(app, list(words), env={"TILTH_HOME": str(tmp_path / "home")})
        assert (done.exit_code, "is blank" in done.output) == (2, True), words
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("only", [",", " , "])
def test_a_list_that_names_no_task_is_not_all_of_them(only: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["take", "--only", only], env={"TILTH_HOME": str(tmp_path)})
    assert done.exit_code == 2
    assert "--only" in done.output


def test_a_blank_number_and_a_blank_note_are_none(tmp_path: Path) -> None:
    for words in (["run", "x", "--jobs", ""], ["accept", "x", "T-001", "--note", ""]):
        done = CliRunner().invoke(app, words, env={"TILTH_HOME": str(tmp_path)})
        assert "is blank" not in done.output

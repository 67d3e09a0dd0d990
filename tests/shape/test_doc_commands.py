"""Every command in the docs: it parses, and it is run by a test or marked as needing a key."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import typer.main
from support.doc_pages import DocCommand, commands
from support.session_files import Shelf

from tilth.cli.app import app

ROOT = Path(__file__).parents[2]
COMMANDS = [command for command in commands() if command.words[0] != "make"]
TARGETS = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
# They call a model, so whoever types them needs a key.
CALLS_A_MODEL = {"run", "resume", "prep-feature", "eval-check", "rejudge", "fleet"}
# They only read a session's own files: each is run here as it stands.
LOOKS = {"", "report", "info", "show", "events", "config"}
# The rest act on a repository, or on a session in a certain state: whoever plays that runs them.
RUN_BY = {
    "accept": "tests/flow/test_words.py",
    "answer": "tests/flow/test_words.py",
    "check": "tests/flow/test_tutorial.py",
    "demo": "tests/cli/test_installed.py",
    "doctor": "tests/unit/session/test_doctor.py",
    "drop": "tests/flow/test_drop.py",
    "reject": "tests/flow/test_words.py",
    "replay": "tests/cli/test_installed.py",
    "reset": "tests/flow/test_reset.py",
    "stop": "tests/flow/test_words.py",
    "take": "tests/flow/test_take.py",
    "tell": "tests/flow/test_words.py",
    "visualize": "tests/cli/test_visualize.py",
}


def shown(command: DocCommand) -> str:
    return f"{command.page}: {command.line}"


def parsed(words: tuple[str, ...]) -> click.Context:
    """Read a command's words as the program does, and run nothing."""
    group = typer.main.get_command(app)
    if not words:
        return group.make_context("tilth", [], resilient_parsing=True)
    outer = group.make_context("tilth", list(words), resilient_parsing=True)
    named = group.get_command(outer, words[0])
    assert named is not None, words[0]
    return named.make_context(words[0], list(words[1:]), parent=outer)


def test_there_are_commands_in_the_docs() -> None:
    assert {command.verb for command in COMMANDS} > {"", "run", "report", "take", "doctor"}


@pytest.mark.parametrize("command", COMMANDS, ids=shown)
def test_every_command_in_the_docs_is_one_the_program_knows(command: DocCommand) -> None:
    with parsed(command.words[1:]):
        pass


@pytest.mark.parametrize("command", COMMANDS, ids=shown)
def test_every_command_is_run_by_a_test_or_needs_a_key(command: DocCommand) -> None:
    if command.verb in CALLS_A_MODEL or "--online" in command.words:
        assert command.needs_key, "put `<!-- needs a key -->` in the line before its block"
    elif not command.needs_key and command.verb not in LOOKS:
        assert command.verb in RUN_BY, f"no test runs `tilth {command.verb}`: name one in RUN_BY"
        assert command.verb in (ROOT / RUN_BY[command.verb]).read_text("utf-8")


@pytest.mark.parametrize(
    "line",
    sorted({shlex.join(c.words[1:]) for c in COMMANDS if c.verb in LOOKS and not c.needs_key}),
)
def test_a_command_that_looks_does_so_as_it_stands(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf = Shelf(tmp_path)
    shelf.add_story()
    for name, value in shelf.environ.items():
        monkeypatch.setenv(name, value)
    code = typer.main.get_command(app).main(shlex.split(line), standalone_mode=False)
    assert code == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", [c for c in commands() if c.words[0] == "make"], ids=shown)
def test_every_make_target_in_the_docs_stands_in_the_makefile(command: DocCommand) -> None:
    assert command.words[1] in TARGETS

"""The bash tool: what the model is told of a command line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tilth.model.messages import ToolCall
from tilth.sandbox.confinement import Access, Command, Unconfined, environment
from tilth.tools import Toolbox, ToolOutcome
from tilth.tools.bash import bounded


def bash(root: Path, command: str, timeout: float | None = None) -> ToolOutcome:
    box = Toolbox(
        root=root,
        confinement=Unconfined(),
        access=Access(),
        env=environment(os.environ, home=root),
        bash_timeout_s=20,
    )
    arguments = {"command": command, "timeout_seconds": timeout}
    return box.run(ToolCall(id="c1", name="bash", arguments=arguments))


def test_output_is_given_as_it_is(tmp_path: Path) -> None:
    outcome = bash(tmp_path, "echo '[/x] [bold]'; echo err >&2")

    assert outcome.content == "[/x] [bold]\nerr\n"
    assert outcome.exit_code == 0
    assert not outcome.is_error


def test_silence_is_said(tmp_path: Path) -> None:
    assert bash(tmp_path, "true").content == "(no output)"


@pytest.mark.parametrize(
    ("command", "content"),
    [
        ("echo no; exit 3", "no\n[exit code 3]"),
        ("printf no; exit 3", "no\n[exit code 3]"),
        ("exit 3", "[exit code 3]"),
    ],
)
def test_a_failing_command_is_data_with_its_exit_code(
    tmp_path: Path, command: str, content: str
) -> None:
    outcome = bash(tmp_path, command)

    assert outcome.content == content
    assert outcome.exit_code == 3
    assert not outcome.is_error


def test_a_timeout_is_said_plainly(tmp_path: Path) -> None:
    outcome = bash(tmp_path, "echo begun; sleep 300", timeout=3)

    assert outcome.content == (
        "begun\n[timed out after 3 s; the command and all it started were ended]"
    )
    assert outcome.is_error
    assert outcome.exit_code is None


@pytest.mark.parametrize(
    ("asked", "given"), [(None, 120), (0.01, 1), (30, 30), (600, 600), (601, 600), (1e300, 600)]
)
def test_the_time_a_call_may_ask_for_is_bounded(asked: float | None, given: float) -> None:
    assert bounded(asked, 120) == given


def test_bash_it_is_and_it_runs_in_the_worktree(tmp_path: Path) -> None:
    outcome = bash(tmp_path, "pwd; [[ -n $BASH_VERSION ]] && echo {a,b}")

    assert outcome.content == f"{tmp_path}\na b\n"


def test_a_command_line_may_begin_with_a_dash(tmp_path: Path) -> None:
    outcome = bash(tmp_path, "-x")

    assert outcome.exit_code == 127
    assert "-x: command not found" in outcome.content


def test_omitted_output_is_counted(tmp_path: Path) -> None:
    outcome = bash(tmp_path, "head -c 100000 /dev/zero | tr '\\0' a")

    assert f"[… {100_000 - 32 * 1024} bytes omitted …]" in outcome.content


def test_the_environment_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILTH_API_KEY", "sk-very-secret")
    monkeypatch.setenv("SOME_TOKEN", "sk-very-secret")

    outcome = bash(tmp_path, "env; cat /proc/$$/environ | tr '\\0' '\\n'")

    assert "sk-very-secret" not in outcome.content
    assert "TILTH" not in outcome.content
    assert "PYTHONDONTWRITEBYTECODE=1" in outcome.content


def test_a_command_goes_through_the_wall(tmp_path: Path) -> None:
    seen: list[tuple[Command, Access]] = []

    class Wall:
        name = "recording"

        def wrap(self, command: Command, access: Access) -> Command:
            seen.append((command, access))
            return command.model_copy(update={"argv": ("echo", "behind the wall")})

    access = Access(writable=(tmp_path,))
    box = Toolbox(
        root=tmp_path,
        confinement=Wall(),
        access=access,
        env={"PATH": os.environ["PATH"]},
        bash_timeout_s=5,
    )

    outcome = box.run(ToolCall(id="c1", name="bash", arguments={"command": "ls"}))

    assert outcome.content == "behind the wall\n"
    [(command, given)] = seen
    assert command.argv[-1] == "ls"
    assert command.cwd == tmp_path
    assert given == access

"""The Landlock wall, tried with real commands where the kernel and the package allow it."""

from __future__ import annotations

import os
import socket

import pytest
from support.sandbox_site import SECRET, Place, real_wall, sleeping
from support.waiting import wait_for

from tilth.config.settings import SandboxChoice


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Give one place for all: what one of them may change there, none of the others looks at."""
    root = tmp_path_factory.mktemp("place")
    tmp = root / "private"
    tmp.mkdir()
    return Place.make(root, real_wall(SandboxChoice.LANDLOCK, tmp))


def test_the_worktree_can_be_written_and_nothing_else(place: Place) -> None:
    place.says("mkdir made && echo x > made/new.py && rm app.py")

    assert (place.workspace / "made" / "new.py").exists()
    targets = ("/usr/x", "/etc/x", "/tmp/x", f"{place.home}/x", f"{place.root}/x")
    said = place.run("; ".join(f"echo x > {target}" for target in targets)).output
    for target in targets:
        assert f"{target}: Permission denied" in said


def test_nothing_of_home_and_sessions_can_be_read(place: Place) -> None:
    files = (".ssh/id_rsa", ".tilth/.env", ".tilth/sessions/other/events.jsonl")
    said = place.run("; ".join(f"cat {place.home / file}" for file in files)).output
    assert SECRET not in said
    for file in files:
        assert f"{place.home / file}: Permission denied" in said
    assert SECRET not in place.run(f"cat {place.policy.source}/.env").output


@pytest.mark.parametrize("line", ["echo x > .git", "rm -f .git", "mv .git x", "ln .git x"])
def test_the_git_file_of_the_worktree_cannot_be_changed(place: Place, line: str) -> None:
    before = (place.workspace / ".git").read_text()

    assert place.run(line).exit_code != 0
    assert (place.workspace / ".git").read_text() == before


def test_the_repositorys_git_directory_cannot_be_changed(place: Place) -> None:
    assert "denied" in place.run(f"echo x >> {place.policy.git_dir}/config").output


def test_interpreter_and_tools_work(place: Place) -> None:
    assert place.says("python -c 'print(1)'") == "1"
    assert "pytest" in place.says("python -m pytest --version")
    assert place.says("ruff --version").startswith("ruff")


def test_no_process_of_the_harness_can_be_read_or_ended(place: Place) -> None:
    assert "denied" in place.run(f"cat /proc/{os.getpid()}/environ").output.lower() or (
        "No such file" in place.run(f"cat /proc/{os.getpid()}/environ").output
    )
    assert place.run(f"kill -0 {os.getpid()}").exit_code != 0


def test_the_machines_own_ports_are_out_of_reach(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        assert place.run(f"exec 3<>/dev/tcp/127.0.0.1/{port}").exit_code != 0
        allowed = place.with_policy(network=True)
        assert allowed.run(f"exec 3<>/dev/tcp/127.0.0.1/{port}").exit_code == 0


def test_a_temporary_directory_stands_ready(place: Place) -> None:
    assert place.says("f=$(mktemp) && echo kept > $f && cat $f") == "kept"


def test_the_environment_holds_only_the_given_and_the_temporary_directory(place: Place) -> None:
    env = {"PATH": os.environ["PATH"], "ONLY": "this"}

    names = place.run("env | cut -d= -f1 | sort | tr '\\n' ' '", env=env).output.split()

    assert names == ["ONLY", "PATH", "PWD", "SHLVL", "TMPDIR", "_"]


def test_the_exit_code_is_the_commands_own(place: Place) -> None:
    assert place.run("exit 7").exit_code == 7


def test_a_timeout_ends_the_whole_tree(place: Place) -> None:
    word = f"33{os.getpid()}"

    finished = place.run(f"setsid nohup sleep {word} & sleep {word}", timeout_s=1)

    assert finished.timed_out
    wait_for(lambda: not sleeping(word), "all it started to be gone")

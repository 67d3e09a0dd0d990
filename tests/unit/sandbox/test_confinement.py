"""What a confined command knows, and the seam that a wall is built on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilth.sandbox.confinement import (
    Access,
    Bind,
    Command,
    Confinement,
    Unconfined,
    environment,
    run,
)

HOME = Path("/private/home")


def test_nothing_but_the_allow_list_reaches_a_command() -> None:
    base = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/user",
        "LANG": "de_DE.UTF-8",
        "TERM": "xterm",
        "ANTHROPIC_API_KEY": "sk-secret",
        "TILTH_API_KEY": "sk-secret",
        "TILTH_HOME": "/x",
        "GITHUB_TOKEN": "secret",
        "LD_PRELOAD": "/evil.so",
        "PYTHONPATH": "/evil",
    }

    env = environment(base, home=HOME)

    assert env == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/private/home",
        "LANG": "de_DE.UTF-8",
        "TERM": "xterm",
        "PYTHONDONTWRITEBYTECODE": "1",
        "RUFF_NO_CACHE": "true",
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        "PAGER": "cat",
    }


def test_the_chosen_interpreter_stands_first_on_the_path_and_only_there() -> None:
    env = environment({"PATH": "/usr/bin:/venv/bin"}, home=HOME, path_first=Path("/venv/bin"))

    assert env["PATH"] == "/venv/bin:/usr/bin"


def test_a_path_entry_that_would_lie_in_the_worktree_is_dropped() -> None:
    assert environment({"PATH": ".:/bin::tools"}, home=HOME)["PATH"] == "/bin"


def test_an_empty_environment_still_makes_a_usable_one() -> None:
    env = environment({}, home=HOME)

    assert env["PATH"]
    assert env["LANG"] == "C.UTF-8"
    assert env["TERM"] == "dumb"


def test_no_confinement_runs_the_command_as_it_is(tmp_path: Path) -> None:
    command = Command(argv=("true",), cwd=tmp_path, env={}, timeout_s=1)
    wall: Confinement = Unconfined()

    assert wall.wrap(command, Access(writable=(tmp_path,))) == command
    assert wall.name == "off"


class Renaming:
    """A wall that shows each bind's source by way of its arguments, as bubblewrap does."""

    name = "renaming"

    def wrap(self, command: Command, access: Access) -> Command:
        shown = tuple(f"{bind.source}>{bind.target}" for bind in access.binds)
        inside = ("cd", str(command.cwd), "&&", *command.argv)
        line = f"echo {' '.join(shown)!r}; {' '.join(inside)}"
        return command.model_copy(update={"argv": ("/bin/sh", "-c", line), "cwd": Path("/")})


def test_a_wall_can_put_its_own_program_in_front_and_start_elsewhere(tmp_path: Path) -> None:
    command = Command(argv=("pwd",), cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, timeout_s=5)
    access = Access(binds=(Bind(source=Path("/a"), target=Path("/b")),))

    finished = run(Renaming().wrap(command, access))

    assert finished.output == f"/a>/b\n{tmp_path}\n"


@pytest.mark.parametrize("field", ["writable", "readable", "hidden", "binds"])
def test_access_allows_nothing_until_it_is_told(field: str) -> None:
    assert getattr(Access(), field) == ()
    assert Access().network is False

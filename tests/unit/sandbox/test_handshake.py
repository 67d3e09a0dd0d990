"""A command waits at the handshake until its limits are set, tried with walls that are scripts."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from tilth.base.errors import ToolError
from tilth.sandbox.confinement import Command, Finished, run
from tilth.sandbox.handshake import Handshake

# `wall --tells FD --waits FD program …`
TELLS = "printf '{\\n  \"child-pid\": %d\\n}\\n' $$ >&$2\n"
WAITS = "read -r _ <&$4\n"
ENTERS = "eval exec $2'>&-' $4'<&-'; shift 4; exec \"$@\"\n"


def behind(folder: Path, wall: str, *argv: str, timeout_s: float = 10, **step: object) -> Finished:
    program = folder / "wall"
    program.write_text(f"#!/bin/bash\n{wall}")
    program.chmod(0o755)

    def build() -> Command:
        return Command(
            argv=(str(program), *argv),
            cwd=folder,
            env={"PATH": os.environ["PATH"]},
            timeout_s=timeout_s,
            handshake=Handshake(tells="--tells", waits="--waits", **step),
            rebuilt=build,
        )

    return run(build())


def test_the_limits_hold_when_the_command_begins(tmp_path: Path) -> None:
    limits = {resource.RLIMIT_NOFILE: 77, resource.RLIMIT_CORE: 0}

    finished = behind(
        tmp_path, TELLS + WAITS + ENTERS, "bash", "-c", "ulimit -n; ulimit -Hn", limits=limits
    )

    assert finished.output == "77\n77\n"
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] != 77


def test_the_command_itself_is_put_into_its_groups(tmp_path: Path) -> None:
    groups = (tmp_path / "one", tmp_path / "two")
    for group in groups:
        group.mkdir()

    finished = behind(tmp_path, TELLS + WAITS + ENTERS, "bash", "-c", "echo $$", groups=groups)

    for group in groups:
        assert (group / "cgroup.procs").read_text() == finished.output.strip()


def test_the_command_gets_no_descriptor_of_the_handshake(tmp_path: Path) -> None:
    finished = behind(tmp_path, TELLS + WAITS + ENTERS, "ls", "/proc/self/fd")

    assert finished.output.split() == ["0", "1", "2", "3"]


def test_a_limit_that_cannot_be_set_keeps_the_command_out(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^the limits of a command cannot be set: [^\n]*nowhere"):
        behind(
            tmp_path,
            TELLS + WAITS + ENTERS,
            *("touch", str(tmp_path / "ran")),
            groups=(tmp_path / "nowhere",),
        )

    assert not (tmp_path / "ran").exists()


def test_a_wall_that_fails_before_it_tells_speaks_for_itself(tmp_path: Path) -> None:
    finished = behind(tmp_path, "echo no such namespace; exit 9\n", "true")

    assert finished.output == "no such namespace\n"
    assert finished.exit_code == 9


def test_a_wall_that_tells_of_a_process_that_is_gone_speaks_for_itself(tmp_path: Path) -> None:
    wall = "(exit 0) & wait; printf '{\"child-pid\": %d}' $! >&$2\necho gone; exit 8\n"

    finished = behind(tmp_path, wall, "true", limits={resource.RLIMIT_CORE: 0})

    assert (finished.output, finished.exit_code) == ("gone\n", 8)


def test_a_wall_that_ends_before_it_lets_the_command_in_speaks_for_itself(tmp_path: Path) -> None:
    # The pid is another's that lives, so that only the closed pipe tells.
    wall = "echo ended; printf '{\"child-pid\": %d}' $PPID >&$2\neval exec $4'<&-'; exit 7\n"

    for _ in range(20):
        finished = behind(tmp_path, wall, "true")
        assert (finished.output, finished.exit_code) == ("ended\n", 7)


# A wall that tells at the end, as bubblewrap does, and which counts how often it was built.
COUNTS = "echo built >> built\n"
ENDS = 'tells=$2; shift 4; "$@"; code=$?; printf \'{"exit-code": %d}\' $code >&$tells; exit $code\n'


@pytest.mark.parametrize(
    ("falls", "code", "built"),
    [
        # At first, before and after it told: then another one is built.
        ("[ $(wc -l < built) = 1 ] && exit 1\n", 0, 2),
        (TELLS + "[ $(wc -l < built) = 2 ] || exit 1\n", 0, 2),
        # Always: it has the last word.
        ("echo no; exit 1\n", 1, 6),
        # In a way that no wall falls: killed from outside, it may have begun.
        ("exit 137\n", 137, 1),
    ],
)
def test_a_wall_that_falls_before_the_command_began_is_built_anew(
    tmp_path: Path, falls: str, code: int, built: int
) -> None:
    wall = COUNTS + falls + TELLS + WAITS + ENDS

    finished = behind(tmp_path, wall, "true", began=b'"exit-code"')

    assert finished.exit_code == code
    assert (tmp_path / "built").read_text() == "built\n" * built


def test_a_command_that_began_is_never_run_twice(tmp_path: Path) -> None:
    wall = COUNTS + TELLS + WAITS + ENDS

    finished = behind(tmp_path, wall, "bash", "-c", "echo ran; exit 1", began=b'"exit-code"')

    assert (finished.output, finished.exit_code) == ("ran\n", 1)
    assert (tmp_path / "built").read_text() == "built\n"


@pytest.mark.parametrize("words", ["{ nothing of use }", "{ half"])
def test_a_wall_that_never_tells_is_stopped_in_time(tmp_path: Path, words: str) -> None:
    finished = behind(tmp_path, f"echo '{words}' >&$2\n{WAITS}sleep 300\n", "true", timeout_s=0.3)

    assert finished.timed_out

"""A sandbox that is kept standing: what a command finds in it is as in one of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.sandbox_site import Place, bubblewrap

from tilth.base.errors import ToolError
from tilth.sandbox.bubblewrap import Bubblewrap
from tilth.sandbox.handshake import Handshake
from tilth.sandbox.host import HostPlan, Hosts, StandingHost


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Give a place whose sandbox has been used often enough to be kept.

    Sockets of other programs that come and go make it another sandbox each time.
    """
    wall = Bubblewrap(bubblewrap().program)
    found = Place.make(tmp_path, wall)
    for _ in range(100):
        found.says("true")
        if wall._hosts._kept:
            return found
    pytest.fail("no sandbox was kept")


def first(place: Place) -> str:
    """Tell which process holds the sandbox, by what only it has in its command line."""
    return place.says("tr '\\0' ' ' < /proc/1/cmdline | head -c 200 | md5sum; stat -c %Y /proc/1")


def is_ever(seen: Callable[[], bool]) -> bool:
    """Tell whether something is seen, sooner or later: sockets may lead past what is kept."""
    return any(seen() for _ in range(100))


def test_a_sandbox_that_is_used_again_and_again_is_kept(place: Place) -> None:
    assert is_ever(lambda: "import" in place.says("tr '\\0' '\\n' < /proc/1/cmdline"))
    assert is_ever(lambda: first(place) == first(place))


def test_a_program_that_is_missing_is_said(place: Place) -> None:
    def is_said() -> bool:
        try:
            finished = place.run("", argv=("/nowhere/at-all",))
        except ToolError as error:
            return "no such program" in str(error)
        # Behind a wall of its own that is found out too late for another word.
        assert "No such file" in finished.output
        return False

    assert is_ever(is_said)
    assert place.says("echo still here") == "still here"


def test_a_timeout_ends_all_that_was_started_and_the_next_command_runs(place: Place) -> None:
    finished = place.run("echo begun; setsid sleep 600 & sleep 600", timeout_s=4)
    assert (finished.timed_out, finished.exit_code, finished.output) == (True, None, "begun\n")
    assert place.says("pgrep -c sleep || true") == "0"


def test_nothing_is_alive_between_two_commands(place: Place) -> None:
    place.says("(setsid sleep 600 &) >/dev/null 2>&1; nohup sleep 600 >/dev/null 2>&1 &")
    assert place.says("pgrep -c sleep || true") == "0"


def test_a_signal_counts_as_a_shell_counts_it(place: Place) -> None:
    assert place.run("kill -9 $$").exit_code == 137
    assert place.run("exit 7").exit_code == 7


def test_a_command_that_starves_the_sandbox_hurts_nobody_but_itself(place: Place) -> None:
    for limit in ("--nproc=1:1", "--nofile=3:3"):
        place.run(f"prlimit --pid 1 {limit}")
        assert place.says("echo next") == "next"


def test_too_much_left_in_tmp_is_not_there_for_the_next_command(place: Place) -> None:
    place.says("cd /tmp && seq 3000 | xargs touch && mkdir a && chmod 0 a")
    assert place.says("ls /tmp | grep -c '^[0-9a]*$' || true") == "0"


def test_a_worktree_that_is_made_anew_is_seen(place: Place) -> None:
    elsewhere = place.workspace.with_name("aside")
    os.rename(place.workspace, elsewhere)
    place.workspace.mkdir()
    (place.workspace / "other").touch()
    (place.workspace / ".git").write_bytes((elsewhere / ".git").read_bytes())
    assert place.says("ls") == "other"


def test_it_ends_when_it_is_closed(place: Place) -> None:
    assert isinstance(place.wall, Bubblewrap)
    *_, host = place.wall._hosts._kept.values()
    assert isinstance(host, StandingHost)
    assert host._process is not None
    pid = host._process.pid
    place.wall.close()
    assert not Path(f"/proc/{pid}").exists()


def plan(number: int) -> HostPlan:
    """Give the plan of one of several sandboxes; none of them is ever started."""
    return HostPlan("bwrap", (f"wall {number}",), Handshake(tells="", waits=""), (), ())


def test_each_of_several_lanes_keeps_its_own_while_it_is_used() -> None:
    hosts = Hosts(now=lambda: 0.0)
    lanes = [plan(number) for number in range(8)]
    for _ in range(2):
        assert [hosts.of(lane) for lane in lanes] == [None] * 8
    first = [hosts.of(lane) for lane in lanes]
    assert None not in first
    assert [hosts.of(lane) for lane in lanes] == first


def test_what_is_used_no_more_is_let_go_but_for_the_last() -> None:
    at = [0.0]
    hosts = Hosts(now=lambda: at[0])
    used = [[hosts.of(plan(number)) for number in range(5)] for _ in range(3)][-1]
    at[0] = 61.0
    assert hosts.of(plan(4)) is used[4]
    assert hosts.of(plan(3)) is used[3]
    assert hosts.of(plan(2)) is not used[2]


def test_there_are_never_too_many() -> None:
    hosts = Hosts(now=lambda: 0.0)
    many = [plan(number) for number in range(40)]
    first = [[hosts.of(one) for one in many] for _ in range(3)][-1]
    assert hosts.of(many[-1]) is first[-1]
    assert hosts.of(many[0]) is not first[0]

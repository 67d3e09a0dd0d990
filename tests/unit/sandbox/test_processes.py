"""What a command leaves running is ended, and nothing else is."""

from __future__ import annotations

import array
import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tilth.sandbox.confinement import Command, Finished, run

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux tells who descends from whom"
)

ENV = {"PATH": os.environ["PATH"]}

DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
time.sleep(300)
"""


def bash(line: str, cwd: Path, timeout_s: float = 10) -> Finished:
    return run(Command(argv=("bash", "-c", line), cwd=cwd, env=ENV, timeout_s=timeout_s))


def unique_sleep() -> str:
    return f"sleep 300.{secrets.randbelow(10**12):012}"


def running(text: str) -> list[int]:
    """Find processes, zombies aside, whose command line holds a text."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and text in line:
            found.append(int(entry.name))
    return found


def our_children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        # A thread of an earlier test may end while we look.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found.update((task / "children").read_text().split())
    return found


LEFTOVERS = {
    "in the background": "{sleep} &",
    "immune to hang-ups": "nohup {sleep} >/dev/null 2>&1 &",
    "in a session of its own, holding the pipe": "setsid {sleep} &",
    "in a session of its own, silent": "setsid {sleep} </dev/null >/dev/null 2>&1 &",
    "orphaned twice": "(setsid bash -c '{sleep} & exec {sleep}' &)",
    "with an empty environment": "env -i setsid {path}{sleep} >/dev/null 2>&1 &",
    "with an empty environment, orphaned": "(env -i setsid {path}{sleep} >/dev/null 2>&1 &)",
    "ignoring signals": "setsid bash -c \"trap '' TERM HUP INT; {sleep}; {sleep}\" &",
}


@pytest.mark.parametrize("kind", LEFTOVERS)
@pytest.mark.parametrize("ending", ["", "; sleep 0.1", "; sleep 300"])
def test_nothing_is_left_running(tmp_path: Path, kind: str, ending: str) -> None:
    sleep = unique_sleep()
    before = our_children()
    leave = LEFTOVERS[kind].format(sleep=sleep, path=f"{os.path.dirname('/usr/bin/x')}/")

    # A newline, because `&` ends a command by itself and `;` may not follow it.
    is_endless = ending.endswith("300")
    timeout_s = 1.0 if is_endless else 60.0
    finished = bash(leave + ending.replace("; ", "\n"), tmp_path, timeout_s)

    assert finished.timed_out == is_endless
    assert running(sleep) == []
    assert our_children() <= before


@pytest.mark.parametrize("redirect", ["", " >/dev/null 2>&1"])
def test_a_daemon_that_forked_twice_is_ended(tmp_path: Path, redirect: str) -> None:
    name = f"daemon-{secrets.token_hex(8)}.py"
    (tmp_path / name).write_text(DAEMON)
    before = our_children()

    finished = bash(f"{sys.executable} -I -S {name}{redirect}; echo started", tmp_path)

    assert finished.output == "started\n"
    assert running(name) == []
    assert our_children() <= before


def test_a_command_run_from_a_thread_leaves_nothing_either(tmp_path: Path) -> None:
    sleep = unique_sleep()
    with ThreadPoolExecutor(1) as pool:
        finished = pool.submit(
            bash, f"setsid {sleep} & (setsid {sleep} &); true", tmp_path
        ).result()

    assert finished.exit_code == 0
    assert running(sleep) == []


def test_a_pipe_held_by_a_process_out_of_reach_does_not_hold_us(tmp_path: Path) -> None:
    """The command hands its output to a stranger, who keeps it open."""
    held: list[int] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()

        def take() -> None:
            connection, _ = server.accept()
            with connection:
                _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(4))
                held.extend(array.array("i", ancillary[0][2]))

        stranger = threading.Thread(target=take)
        stranger.start()
        give = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('s'); "
        give += "socket.send_fds(s, [b'x'], [1]); print('given')"
        finished = bash(f'{sys.executable} -I -S -c "{give}"', tmp_path)
        stranger.join()
    for descriptor in held:
        os.close(descriptor)

    assert len(held) == 1
    assert finished.output == "given\n"
    assert finished.exit_code == 0


def test_children_of_ours_that_no_command_made_are_left_alone(tmp_path: Path) -> None:
    strangers: list[subprocess.Popen[bytes]] = []

    def start(own_session: bool) -> None:
        argv = unique_sleep().split()
        strangers.append(subprocess.Popen(argv, start_new_session=own_session, env={}))

    start(True)
    start(False)
    late = [threading.Timer(0.1, start, [own_session]) for own_session in (True, False)]
    for timer in late:
        timer.start()
    bash("setsid sleep 300 & sleep 0.4", tmp_path)
    for timer in late:
        timer.join()

    states = [stranger.poll() for stranger in strangers]
    for stranger in strangers:
        stranger.kill()
        stranger.wait()
    assert states == [None, None, None, None]


def test_commands_that_run_side_by_side_do_not_end_each_other(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        line = "setsid sh -c 'sleep 0.3; echo late > {0}' & wait; cat {0}"
        slow = [pool.submit(bash, line.format(name), tmp_path) for name in "ab"]
        for _ in range(10):
            assert bash("setsid sleep 300 & (setsid sleep 300 &); true", tmp_path).exit_code == 0
        results = [future.result() for future in slow]

    assert [finished.output for finished in results] == ["late\n", "late\n"]


def test_a_command_that_began_during_another_outlives_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as pool:

        def begin() -> Finished:
            time.sleep(0.1)
            late = "(setsid sh -c 'sleep 0.3; echo late > f' &)"
            return bash(f"{late}; until [ -s f ]; do sleep 0.05; done; cat f", tmp_path, 60)

        later = pool.submit(begin)
        bash("sleep 0.2", tmp_path)
        finished = later.result()

    assert finished.output == "late\n"
    assert finished.exit_code == 0


def test_an_interrupt_ends_the_command_and_goes_on(tmp_path: Path) -> None:
    sleep = unique_sleep()

    def interrupt() -> None:
        while not running(sleep):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    user = threading.Thread(target=interrupt)
    user.start()
    with pytest.raises(KeyboardInterrupt):
        bash(f"setsid {sleep} & {sleep}", tmp_path, timeout_s=60)
    user.join()

    assert running(sleep) == []


def test_an_exit_status_somebody_else_waits_for_is_not_taken(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sh", "-c", "exit 7"], start_new_session=True)
    bash("setsid true & sleep 0.1", tmp_path)

    assert stranger.wait() == 7

"""The watchdog: what a worker started ends with it, by the kernel's hand or by its own watch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from support.fleet_site import is_alive, parent_of
from support.waiting import wait_for

CHILD = """
import os, signal, sys
sys.path[:0] = {path!r}
from tilth.base.interrupt import Interrupt
from tilth.fleet.watchdog import Watchdog, die_with
if {kernel}:
    die_with(int(sys.argv[1]))
watchdog = Watchdog(0, Interrupt())
if {pipe}:
    watchdog.start()
print(os.getpid(), flush=True)
signal.pause()
"""
# It holds the one open end of the pipe, and waits for somebody to kill it.
PARENT = """
import os, signal, subprocess, sys
read, write = os.pipe()
child = [sys.executable, "-c", sys.argv[1], str(os.getpid())]
subprocess.Popen(child, stdin=read)
os.close(read)
signal.pause()
"""


@contextmanager
def child_of_a_killed_parent(*, kernel: bool, pipe: bool) -> Iterator[tuple[int, int]]:
    """Give a process and its parent, which was killed with `kill -9`."""
    code = textwrap.dedent(CHILD).format(path=sys.path, kernel=kernel, pipe=pipe)
    command = [sys.executable, "-c", PARENT, code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        try:
            parent.kill()
            parent.wait()
            yield child, parent.pid
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize(("kernel", "pipe"), [(True, False), (False, True), (True, True)])
def test_a_run_dies_with_its_worker_by_either_hand(kernel: bool, pipe: bool) -> None:
    with child_of_a_killed_parent(kernel=kernel, pipe=pipe) as (child, _):
        wait_for(lambda: not is_alive(child), "the child to end with its parent")


def test_without_the_leash_it_would_go_on() -> None:
    with child_of_a_killed_parent(kernel=False, pipe=False) as (child, parent):
        # Its parent is gone and another has taken its place: this is when the others died.
        wait_for(lambda: parent_of(child) != parent, "its new parent")
        assert is_alive(child)


def test_a_run_whose_worker_died_before_it_began_ends_at_once() -> None:
    code = "from tilth.fleet.watchdog import die_with; die_with(1); print('went on')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")


def test_a_superseded_run_ends_itself_and_a_wish_to_stop_is_heard(tmp_path: Path) -> None:
    superseded, stopping = tmp_path / "superseded", tmp_path / "stopping"
    code = textwrap.dedent(
        """
        import os, sys, time
        from pathlib import Path
        from tilth.base.interrupt import Interrupt
        from tilth.fleet.watchdog import Watchdog
        interrupt = Interrupt()
        watchdog = Watchdog(0, interrupt)
        watchdog.watch_for(superseded=Path(sys.argv[1]).exists, stopping=Path(sys.argv[2]).exists)
        watchdog.start()
        while not interrupt.wished:
            time.sleep(0.01)
        print("wished", flush=True)
        time.sleep(600)
        """
    )
    command = [sys.executable, "-c", code, str(superseded), str(stopping)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        stopping.touch()
        assert run.stdout.readline() == "wished\n"
        superseded.touch()
        assert run.wait(timeout=60) == -signal.SIGKILL

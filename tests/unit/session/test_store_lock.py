"""The lock: one process at a time, free as soon as its holder is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tilth.base.errors import DiskError, SessionBusy
from tilth.session.store import Lock, lock_holder

HOLDER = """
import sys
from pathlib import Path
from tilth.session.store import Lock
lock = Lock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Have another process hold the lock until it is ended."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            yield holder
        finally:
            holder.kill()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    directory = tmp_path / "20261116-221530-a1b2c3"
    directory.mkdir()
    return directory / "lock"


def test_a_second_process_is_refused_and_told_who_holds_it(path: Path) -> None:
    with held_elsewhere(path) as holder, pytest.raises(SessionBusy) as caught:
        Lock(path).acquire()
    assert str(caught.value) == (
        f"session 20261116-221530-a1b2c3 is in use by process {holder.pid}; "
        "wait for it or stop it first"
    )


def test_a_lock_that_is_held_is_never_called_free_whatever_number_stands_in_it(path: Path) -> None:
    # As from another container, where the holder's number means nothing here.
    with held_elsewhere(path):
        path.write_text("4194399\n17\n")
        assert lock_holder(path) == "4194399"
        path.write_text("")
        assert lock_holder(path) == "unknown"
    assert lock_holder(path) is None


def test_the_lock_of_a_killed_process_is_free(path: Path) -> None:
    with held_elsewhere(path) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait(timeout=120)
        with Lock(path):
            assert path.read_text().splitlines()[0] == str(os.getpid())


def test_a_stale_and_longer_pid_is_overwritten_whole(path: Path) -> None:
    path.write_text("99999999999\n")
    with Lock(path):
        assert path.read_text().splitlines()[0] == str(os.getpid())


def test_a_lock_says_in_which_namespace_its_number_counts(path: Path) -> None:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    with Lock(path):
        number, space = path.read_text().splitlines()
    assert number == str(os.getpid())
    assert space == f"{os.stat('/proc/self/ns/pid').st_ino}@{boot}"


def test_a_lock_that_was_given_back_can_be_taken(path: Path) -> None:
    lock = Lock(path)
    lock.acquire()
    lock.release()
    lock.release()
    with Lock(path):
        pass
    with Lock(path):
        pass


def test_two_locks_of_one_process_exclude_each_other(path: Path) -> None:
    with Lock(path), pytest.raises(SessionBusy, match=str(os.getpid())):
        Lock(path).acquire()


def test_a_holder_that_wrote_no_pid_is_still_refused(path: Path) -> None:
    with Lock(path):
        path.write_text("")
        with pytest.raises(SessionBusy, match="process unknown"):
            Lock(path).acquire()


def test_a_child_of_the_holder_does_not_keep_the_lock(path: Path) -> None:
    lock = Lock(path)
    lock.acquire()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False) as child:
        lock.release()
        with Lock(path):
            pass
        assert child.poll() is None
        assert child.stdin is not None
        child.stdin.close()


def test_the_lock_file_is_for_its_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        with Lock(path):
            assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_a_lock_in_a_directory_that_is_gone_says_so(tmp_path: Path) -> None:
    with pytest.raises(DiskError, match="cannot write"):
        Lock(tmp_path / "gone" / "lock").acquire()


def test_the_holder_can_be_asked_for_without_taking_the_lock(path: Path) -> None:
    assert lock_holder(path) is None
    with held_elsewhere(path) as holder:
        assert lock_holder(path) == str(holder.pid)
    assert lock_holder(path) is None
    with Lock(path):
        assert lock_holder(path) == str(os.getpid())


def test_a_lock_that_only_a_dead_holders_child_still_has_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    script = (
        "import fcntl, os, sys, time\n"
        f"handle = os.open({str(path)!r}, os.O_RDWR | os.O_CREAT)\n"
        "fcntl.flock(handle, fcntl.LOCK_EX)\n"
        "os.write(handle, f'{os.getpid()}\\n'.encode())\n"
        "if os.fork() == 0:\n"
        "    time.sleep(0.3)\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert lock_holder(path) is None
    with Lock(path):
        assert lock_holder(path) == str(os.getpid())

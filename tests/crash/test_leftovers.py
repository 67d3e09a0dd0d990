"""A killed Tilth leaves no process and no control group; the next start clears what is left.

Any Tilth on the machine sweeps up after all that are dead. So what is about processes is played
where no other one is: in a process namespace of its own.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.sandbox_site import bubblewrap
from support.waiting import wait_for

from tilth.config.settings import SandboxChoice
from tilth.sandbox.choose import open_wall
from tilth.sandbox.leftovers import sweep
from tilth.sandbox.processes import MARK, is_dead, new_mark, owner
from tilth.sandbox.removal import temporary_directory

RUNNER = """\
import sys
from pathlib import Path
from tilth.config.settings import SandboxChoice
from tilth.sandbox.choose import open_wall
from tilth.sandbox.confinement import Access, Command, run
place = Path(sys.argv[1])
env = {"PATH": "/usr/bin:/bin"}
command = Command(argv=("sh", "-c", "sleep 0.01"), cwd=place, env=env, timeout_s=60)
with open_wall(SandboxChoice.BWRAP) as wall:
    print(getattr(wall.cgroup, "directories", ()), flush=True)
    while True:
        # Another layout each time, so that each builds a sandbox of its own.
        (place / "next").mkdir(exist_ok=True)
        run(wall.wrap(command, Access(writable=(place,))))
        (place / "next").rmdir()
"""


_NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
_NO_WALL = 77
# What was killed is gone in no time; nothing but a failure takes as long as this.
LEAVE_S = 10
_PLAYED = f"""\
import sys
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]}
import pytest
import test_leftovers
try:
    getattr(test_leftovers, sys.argv[1])(*sys.argv[2:])
except pytest.skip.Exception as why:
    sys.exit(print(why, file=sys.stderr) or {_NO_WALL})
"""


@functools.cache
def _namespace() -> tuple[str, ...] | str:
    """Give the command that makes a namespace, or say why there is none."""
    why = ""
    for command in (_NAMESPACE, (*_NAMESPACE, "--map-root-user")):
        try:
            tried = subprocess.run([*command, "true"], capture_output=True, text=True)
        except OSError as error:
            return str(error)
        if tried.returncode == 0:
            return command
        why = tried.stderr.strip()
    return why


def play_alone(scenario: Callable[..., None], *words: object) -> None:
    """Play one of this file's scenarios where no other program could do Tilth's work."""
    namespace = _namespace()
    if isinstance(namespace, str):
        pytest.skip(f"NOT TESTED, no process namespace can be made here: {namespace}")
    argv = [*namespace, sys.executable, "-c", _PLAYED, scenario.__name__, *map(str, words)]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode == _NO_WALL:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


def carriers(word: str) -> list[int]:
    """Name the processes that have a word in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word.encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
    return found


def left_by_the_guard(word: str) -> list[int]:
    """Name the processes with a word that are there when the guard has done what it does."""
    wait_for(lambda: not guards(), "the guard to be done")
    # What was killed last takes its leave; nobody is there any more to kill another.
    until = time.monotonic() + LEAVE_S
    while (found := carriers(word)) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def guards() -> list[Path]:
    """Find the guards that still work; there are no others than ours."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"tilth-guard" in (place / "cmdline").read_bytes():
                found.append(place)
    return found


def mark_of(process: subprocess.Popen[str]) -> str:
    """Give what everything carries that a Tilth has started."""
    about = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return f"-{process.pid}-{about[19]}."


@pytest.mark.parametrize("number", range(6))
def test_a_kill_at_any_moment_leaves_no_sandbox_and_no_group(tmp_path: Path, number: int) -> None:
    play_alone(kill_a_sandbox, tmp_path, number)


def kill_a_sandbox(place: str, number: str) -> None:
    bubblewrap()
    argv = [sys.executable, "-c", RUNNER, place]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        groups = killed.stdout.readline()
        time.sleep(int(number) * 0.013)
        mark, guarded_by = mark_of(killed), guards()
        killed.kill()
    assert len(guarded_by) == 1
    assert left_by_the_guard(mark) == []
    made = [Path(part.split("'")[1]) for part in groups.split("PosixPath")[1:]]
    assert [path for path in made if path.exists()] == []


UNCONFINED = """\
import sys
from pathlib import Path
from tilth.config.settings import SandboxChoice
from tilth.sandbox.choose import open_wall
from tilth.sandbox.confinement import Access, Command, run
place = Path(sys.argv[1])
argv = ("sh", "-c", "echo begun > begun; exec sleep 600")
command = Command(argv=argv, cwd=place, env={"PATH": "/usr/bin:/bin"}, timeout_s=600)
with open_wall(SandboxChoice.OFF) as wall:
    run(wall.wrap(command, Access(writable=(place,))))
"""


def test_without_a_sandbox_a_command_does_not_outlive_a_kill(tmp_path: Path) -> None:
    """It would go on writing beside the resumed run."""
    play_alone(kill_an_unconfined_one, tmp_path)


def kill_an_unconfined_one(place: str) -> None:
    argv = [sys.executable, "-c", UNCONFINED, place]
    with subprocess.Popen(argv, text=True) as killed:
        wait_for((Path(place) / "begun").exists, "the command")
        mark = mark_of(killed)
        assert carriers(mark) != []
        killed.kill()
    assert left_by_the_guard(mark) == []


def test_without_a_sandbox_the_next_start_ends_what_the_dead_left() -> None:
    play_alone(start_beside_a_stray)


def start_beside_a_stray() -> None:
    with stray_of(f"{dead_owner()}.aa") as stray, open_wall(SandboxChoice.OFF):
        assert stray.wait(LEAVE_S) == -signal.SIGKILL


@contextlib.contextmanager
def stray_of(mark: str) -> Iterator[subprocess.Popen[bytes]]:
    """Have a process that carries a mark."""
    with subprocess.Popen(["sleep", "600"], env={MARK: mark}) as stray:
        # Before it is the program it is to be, it has the environment of whoever starts it.
        wait_for(lambda: stray.pid in carriers(mark), "the mark")
        try:
            yield stray
        finally:
            stray.kill()


def dead_owner() -> str:
    """Give the name of a process that has been."""
    code = "from tilth.sandbox.processes import owner; print(owner())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_sweep_takes_what_the_dead_left_and_nothing_else(tmp_path: Path) -> None:
    play_alone(sweep_up, tmp_path)


def sweep_up(folder: str) -> None:
    place, dead = Path(folder), dead_owner()
    theirs, ours = place / f"tilth-{dead}-aa", place / f"tilth-{owner()}-aa"
    foreign = place / f"tilth-1{dead}-aa"
    for group in (theirs, ours, foreign):
        group.mkdir()
    with stray_of(f"{dead}.aa") as stray, stray_of(new_mark()) as living:
        sweep(place)
        assert stray.wait(LEAVE_S) == -signal.SIGKILL
        assert living.poll() is None
    assert sorted(place.iterdir()) == sorted([ours, foreign])


LENDER = """\
import os, signal
from tilth.sandbox.removal import temporary_directory
with temporary_directory("tilth-eval-") as one, temporary_directory("tilth-") as two:
    for place in (one, two):
        (place / "closed").mkdir()
        (place / "closed" / "file").touch()
        (place / "closed").chmod(0)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_start_removes_the_scratch_of_the_dead_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    killed = subprocess.run([sys.executable, "-c", LENDER], env={**os.environ, "TMPDIR": str(tmp)})
    assert killed.returncode == -signal.SIGKILL
    dead = sorted(tmp.iterdir())
    assert len(dead) == 2
    link = tmp / f"tilth-{dead_owner()}-link"
    link.symlink_to(outside)
    foreign = [tmp / name for name in ("tilth-edit-abc", "other", f"tilth-1{dead_owner()}-aa")]
    for place in foreign:
        place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp))
    with temporary_directory("tilth-eval-") as ours, open_wall(SandboxChoice.OFF):
        assert sorted(tmp.iterdir()) == sorted([ours, link, *foreign])
    assert (outside / "kept").is_dir()


def test_an_owner_that_cannot_be_told_is_not_called_dead() -> None:
    space, pid, start = dead_owner().split("-")
    assert is_dead(f"{space}-{pid}-{start}")
    assert not is_dead(f"1{space}-{pid}-{start}")
    assert not is_dead(owner())
    for text in ("", "1", "a-b-c", "1-2", "tilth"):
        assert not is_dead(text)

"""A killed Tilth leaves no process and no control group; the next start clears what is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
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


def gone_within(seconds: float, word: str) -> bool:
    """Tell whether no process has a word in its environment any more, waiting for it."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        found = subprocess.run(
            f"grep -lsaF -e '{word}' /proc/[0-9]*/environ", shell=True, capture_output=True
        )
        if not found.stdout:
            return True
    return False


@pytest.mark.parametrize("number", range(6))
def test_a_kill_at_any_moment_leaves_no_sandbox_and_no_group(tmp_path: Path, number: int) -> None:
    bubblewrap()
    argv = [sys.executable, "-c", RUNNER, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        groups = killed.stdout.readline()
        time.sleep(number * 0.013)
        about = Path(f"/proc/{killed.pid}/stat").read_text().rpartition(")")[2].split()
        killed.kill()
    mark = f"-{killed.pid}-{about[19]}."
    assert gone_within(120, mark)
    made = [Path(part.split("'")[1]) for part in groups.split("PosixPath")[1:]]
    give_up = time.monotonic() + 120
    while any(path.exists() for path in made) and time.monotonic() < give_up:
        os.sched_yield()
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
    with subprocess.Popen([sys.executable, "-c", UNCONFINED, str(tmp_path)]) as killed:
        wait_for((tmp_path / "begun").exists, "the command")
        about = Path(f"/proc/{killed.pid}/stat").read_text().rpartition(")")[2].split()
        killed.kill()
    assert gone_within(20, f"-{killed.pid}-{about[19]}.")


def test_without_a_sandbox_the_next_start_ends_what_the_dead_left() -> None:
    with (
        subprocess.Popen(["sleep", "600"], env={MARK: f"{dead_owner()}.aa"}) as stray,
        open_wall(SandboxChoice.OFF),
    ):
        assert stray.wait(120) == -signal.SIGKILL


def dead_owner() -> str:
    """Give the name of a process that has been."""
    code = "from tilth.sandbox.processes import owner; print(owner())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_sweep_takes_what_the_dead_left_and_nothing_else(tmp_path: Path) -> None:
    dead = dead_owner()
    theirs, ours = tmp_path / f"tilth-{dead}-aa", tmp_path / f"tilth-{owner()}-aa"
    foreign = tmp_path / f"tilth-1{dead}-aa"
    for group in (theirs, ours, foreign):
        group.mkdir()
    with (
        subprocess.Popen(["sleep", "600"], env={MARK: f"{dead}.aa"}) as stray,
        subprocess.Popen(["sleep", "600"], env={MARK: new_mark()}) as living,
    ):
        sweep(tmp_path)
        assert stray.wait(120) == -signal.SIGKILL
        assert living.poll() is None
        living.kill()
    assert sorted(tmp_path.iterdir()) == sorted([ours, foreign])


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

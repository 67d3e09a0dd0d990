"""A real repository for tests, made and watched with plain git, as a user would."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from support.repo_copy import lay_out
from tilth.git.source import open_source
from tilth.git.workspace import Workspace

SESSION = "20260102-030405-abcdef"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class StoppedClock:
    """Tell one moment for ever."""

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0


class Repo:
    """Hold one repository with the files a small project has."""

    def __init__(
        self, root: Path, files: Mapping[str, str] | None = None, *, hashing: str = "sha1"
    ) -> None:
        self.root = root
        files = files or {"app.py": "x = 1\n", "pkg/mod.py": "y = 1\n"}

        def make(folder: Path) -> None:
            first = Repo.at(folder)
            first.git("init", "-q", "-b", "main", f"--object-format={hashing}")
            first.commit_files(files)

        lay_out(root, make, hashing, *files.items())

    @classmethod
    def at(cls, root: Path) -> Repo:
        """Take a repository that stands there already."""
        repo = cls.__new__(cls)
        repo.root = root
        return repo

    def git(self, *args: str, cwd: Path | None = None, **environment: str) -> str:
        # The test process may itself run inside a git hook.
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        done = subprocess.run(
            ["git", "-c", "user.name=User", "-c", "user.email=user@example.org", *args],
            cwd=cwd or self.root,
            env={**clean, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.root), **environment},
            check=True,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
        )
        return done.stdout

    def commit_files(self, files: Mapping[str, str]) -> str:
        for name, text in files.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "-m", "base")
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    def workspace(self, session: str = SESSION) -> Workspace:
        """Give a session's workspace that is not created yet."""
        path = self.root.parent / "sessions" / session / "workspace"
        return Workspace(open_source(self.root), path, session, StoppedClock())

    def started(self, session: str = SESSION) -> Workspace:
        """Give a workspace that stands on HEAD."""
        workspace = self.workspace(session)
        workspace.create(self.head())
        return workspace

    def own_state(self) -> tuple[bytes, str, str, str]:
        """Give everything of the user's own checkout that a session must leave alone."""
        index = (self.root / ".git" / "index").read_bytes()
        head = (self.root / ".git" / "HEAD").read_text()
        branch = self.git("rev-parse", "refs/heads/main")
        return index, head, branch, self.git("--no-optional-locks", "status", "--porcelain")


def frozen_files(workspace: Workspace, base: str) -> dict[str, str]:
    """Freeze, and give what changed since `base` as path to status."""
    tree = workspace.freeze(base).tree
    return {change.path: change.status for change in workspace.changes(base, tree)}

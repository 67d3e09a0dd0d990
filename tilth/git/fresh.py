"""A fresh repository: a directory of given files with one commit, the same wherever it is made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tilth.base.errors import WorkspaceError
from tilth.git.command import Git, base_environment, execute, write_file, writing
from tilth.git.source import SourceRepo, open_source


def make_repo(
    root: Path, files: Mapping[str, bytes], message: str, who: str, date: str
) -> SourceRepo:
    """Write files into a new directory and commit them on `main`."""
    with writing(root):
        root.mkdir(parents=True)
    for path, content in files.items():
        write_file(root / path, content)
    # An empty template: no sample hooks, no excludes of this machine.
    command = ["init", "--quiet", "--template=", "--initial-branch=main", str(root)]
    if execute(command, base_environment(), root).returncode != 0:
        raise WorkspaceError(f"git init failed in {root}")
    git = Git(root / ".git", root)
    paths = b"".join(os.fsencode(path) + b"\0" for path in files)
    git.run("update-index", "--add", "-z", "--stdin", stdin=paths)
    identity = {f"GIT_{role}_NAME": who for role in ("AUTHOR", "COMMITTER")}
    identity |= {
        f"GIT_{role}_EMAIL": f"{who.lower()}@localhost" for role in ("AUTHOR", "COMMITTER")
    }
    identity |= {f"GIT_{role}_DATE": date for role in ("AUTHOR", "COMMITTER")}
    made = git.run(
        "commit-tree", git.line("write-tree"), stdin=f"{message}\n".encode(), environment=identity
    )
    git.run("update-ref", "refs/heads/main", made.decode().strip())
    return open_source(root)

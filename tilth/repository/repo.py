"""The user's source repository: where it is and whether a session can start from it.

Finding it is the one git call that keeps the user's global configuration, because `safe.directory`
stands there. It asks `rev-parse` alone, which starts nothing. The checkout, index and HEAD of the
repository are read and never written.
"""

from __future__ import annotations

import os
from pathlib import Path

from tilth.errors import UserError
from tilth.repository.git import Git, base_environment, execute, scratch, visible
from tilth.values import Value

SESSION_BRANCHES = "session/"

_USERS_CONFIGURATION = (
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)


class SourceRepo(Value):
    """Name a repository: its checkout, the git directory its worktrees share, and its HEAD."""

    root: Path
    git_dir: Path
    head: str
    dirty: bool = False


def open_source(path: Path) -> SourceRepo:
    """Find the repository around `path`, or say in one line what to do about it."""
    where = path.expanduser().resolve()
    if not where.is_dir():
        raise UserError(f"{path} is not a directory: name the repository to work on")
    # The path comes last: it is the one answer that may hold a line's end.
    asked = ("--is-bare-repository", "--is-inside-git-dir", "--absolute-git-dir")
    is_bare, is_inside, own = _discover(where, *asked).split("\n", 2)
    own_dir = Path(own)
    if is_bare == "true":
        raise UserError(f"{path} is a bare repository: clone it and name the clone")
    root = _checkout_around(where)
    if root is None or is_inside == "true":
        raise UserError(f"{path} is inside a git directory: name the checkout beside it")
    git_dir = Path(os.path.normpath(where / _discover(where, "--git-common-dir")))
    head = _head(own_dir, git_dir, root)
    return SourceRepo(
        root=root, git_dir=git_dir, head=head, dirty=_is_dirty(own_dir, git_dir, root, head)
    )


def _discover(where: Path, *what: str) -> str:
    own = {name: os.environ[name] for name in _USERS_CONFIGURATION if name in os.environ}
    environment = base_environment()
    for name in _USERS_CONFIGURATION:
        environment.pop(name, None)
    done = execute(["rev-parse", *what], {**environment, **own}, where)
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")
    complaint = done.stderr.decode("utf-8", "replace")
    if "dubious ownership" in complaint or "unsafe repository" in complaint:
        raise UserError(
            f"{where} belongs to another user and git refuses it: "
            f"run `git config --global --add safe.directory {where}` if you trust it"
        )
    if "not a git repository" in complaint:
        raise UserError(f"{where} is not a git repository: run `git init` there and commit first")
    reason = visible(complaint.strip().splitlines()[-1])[:300] if complaint.strip() else "no reason"
    raise UserError(f"git cannot read the repository at {where}: {reason}")


def _checkout_around(where: Path) -> Path | None:
    # Not --show-toplevel: core.worktree could send it anywhere.
    for directory in (where, *where.parents):
        if os.path.lexists(directory / ".git"):
            return directory
    return None


def _head(own_dir: Path, git_dir: Path, root: Path) -> str:
    git = Git(own_dir, root, common=git_dir)
    branch = git.ask("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).out.decode("utf-8", "replace")
    if own_dir != git_dir and branch.startswith(f"refs/heads/{SESSION_BRANCHES}"):
        raise UserError(f"{root} is a session's own worktree: name the repository it came from")
    answer = git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1))
    if answer.code != 0:
        raise UserError(f"{root} has no commit yet: commit something first")
    return answer.out.decode().strip()


def _is_dirty(own_dir: Path, git_dir: Path, root: Path, head: str) -> bool:
    """Tell whether a tracked file differs from HEAD; untracked files do not count."""
    index = own_dir / "index"
    if not index.exists():
        return True
    with scratch(git_dir, head, convert=True) as lent:
        git = lent.git(root).with_index(index)
        for shared in own_dir.glob("sharedindex.*"):
            (git.git_dir / shared.name).symlink_to(shared)
        out = git.run(
            "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all"
        )
    return bool(out)

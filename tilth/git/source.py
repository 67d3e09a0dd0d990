"""The user's source repository: where it is and whether a session can start from it.

Finding it is the one git call that keeps the user's global configuration, because `safe.directory`
stands there. It asks `rev-parse` alone, which starts nothing. The checkout, index and HEAD of the
repository are read here and never written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tilth.base.errors import UserError
from tilth.base.values import Value
from tilth.git.command import Git, base_environment, execute, scratch, visible
from tilth.git.includes import git_dirs, refuse_what_waits
from tilth.git.refs import resolve

SESSION_BRANCHES = "session/"
_BRANCHES = "refs/heads/"
# What leaves no room for a session's own refs, and how it is put out of the way.
_IN_THE_WAY = {
    "refs/heads/session": "git branch -m session old-session",
    "refs/tilth": "git update-ref -d refs/tilth",
}

_USERS_CONFIGURATION = (
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)


class SourceRepo(Value):
    """Name a repository: its checkout, the git directory its worktrees share, and its HEAD.

    `own_dir` is the checkout's own part of the git directory, `branch` what HEAD points at, and
    `stores` are object stores that Tilth itself made it borrow from.
    """

    root: Path
    git_dir: Path
    own_dir: Path
    head: str
    branch: str | None = None
    stores: tuple[Path, ...] = ()


def open_source(path: Path) -> SourceRepo:
    """Find the repository around `path`, or say in one line what to do about it."""
    where = path.expanduser().resolve()
    if not where.is_dir():
        raise UserError(f"{path} is not a directory: name the repository to work on")
    around = _checkout_around(where)
    if around is not None:
        refuse_what_waits(around)
    is_bare, is_inside, own, common = _places(where)
    own_dir = Path(own)
    if is_bare == "true":
        raise UserError(f"{path} is a bare repository: clone it and name the clone")
    root = _checkout_around(where)
    if root is None or is_inside == "true":
        raise UserError(f"{path} is inside a git directory: name the checkout beside it")
    git_dir = Path(os.path.normpath(where / common))
    _refuse_a_foreign_one(root, own_dir, git_dir)
    head, branch = _head(own_dir, git_dir, root)
    return SourceRepo(root=root, git_dir=git_dir, own_dir=own_dir, head=head, branch=branch)


def open_for_session(path: Path) -> SourceRepo:
    """Find a repository to begin a session in; refuse one whose refs leave no room for its own."""
    source = open_source(path)
    git = Git(source.own_dir, source.root, common=source.git_dir)
    for ref, way_out in _IN_THE_WAY.items():
        if resolve(git, ref, source.head) is not None:
            raise UserError(
                f"{ref} of {source.root} is in the way: sessions keep their work below that name, "
                f"and git allows no ref below another; move it with `{way_out}`"
            )
    return source


def _places(where: Path) -> tuple[str, str, str, str]:
    """Ask what kind of place it is and which git directories it has: its own and the shared one."""
    kinds, own, common = (
        ("--is-bare-repository", "--is-inside-git-dir"),
        "--absolute-git-dir",
        "--git-common-dir",
    )
    match _discover(where, *kinds, own, common).split("\n"):
        case [is_bare, is_inside, own_dir, git_dir]:
            return is_bare, is_inside, own_dir, git_dir
    # A path may hold a line's end: then it has to come last.
    is_bare, is_inside, own_dir = _discover(where, *kinds, own).split("\n", 2)
    return is_bare, is_inside, own_dir, _discover(where, common)


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


def repository_around(where: Path) -> tuple[Path, Path] | None:
    """Name the checkout around a place and what its repository is told by; asks no git.

    That is the git directory which all worktrees share. None where there is no repository.
    """
    root = _checkout_around(where)
    if root is None:
        return None
    shared = Path(os.path.realpath(git_dirs(root)[1]))
    return (root, shared) if (shared / "objects").is_dir() else None


def _checkout_around(where: Path) -> Path | None:
    # Not --show-toplevel: core.worktree could send it anywhere.
    for directory in (where, *where.parents):
        if os.path.lexists(directory / ".git"):
            return directory
    return None


def _refuse_a_foreign_one(root: Path, own_dir: Path, git_dir: Path) -> None:
    """Refuse a checkout whose `.git` leads to a repository that knows nothing of it.

    A file that came with the checkout must not turn another repository into the one to work on.
    """
    entry = root / ".git"
    own, common = (Path(os.path.realpath(path)) for path in (own_dir, git_dir))
    if own != common:
        # A linked worktree; its registration in the repository names the file that leads there.
        is_known = own.parent == common / "worktrees" and _named_in(own / "gitdir", own) == entry
    else:
        is_plain = entry.is_dir() and not entry.is_symlink() and own == entry
        is_known = is_plain or _worktree_of(own) == root
    if not is_known:
        raise UserError(
            f"{entry} leads to {own_dir}, which does not name {root} as its checkout: "
            f"name that repository itself, or run `git --git-dir={own_dir} config core.worktree "
            f"{root}` if they belong together"
        )


def _named_in(file: Path, base: Path) -> Path | None:
    try:
        named = os.fsdecode(file.read_bytes()).rstrip("\n")
    except OSError:
        return None
    return Path(os.path.realpath(base / Path(named).parent)) / Path(named).name


def _worktree_of(git_dir: Path) -> Path | None:
    asked = ("config", "--file", str(git_dir / "config"), "--no-includes", "core.worktree")
    done = execute(asked, base_environment(), git_dir)
    named = os.fsdecode(done.stdout).rstrip("\n")
    return Path(os.path.realpath(git_dir / named)) if named else None


def _head(own_dir: Path, git_dir: Path, root: Path) -> tuple[str, str | None]:
    git = Git(own_dir, root, common=git_dir)
    head, ref = _stands_at(git)
    branch = ref.removeprefix(_BRANCHES) if ref.startswith(_BRANCHES) else None
    if own_dir != git_dir and branch is not None and branch.startswith(SESSION_BRANCHES):
        raise UserError(f"{root} is a session's own worktree: name the repository it came from")
    if head is None:
        raise UserError(f"{root} has no commit yet: commit something first")
    return head, branch


def _stands_at(git: Git) -> tuple[str | None, str]:
    """Give the commit of HEAD, if there is one, and the ref that it points at."""
    both = ("rev-parse", "HEAD^{commit}", "--symbolic-full-name", "HEAD")
    answer = git.ask(*both, ok=(0, 1, 128))
    match answer.out.decode("utf-8", "replace").splitlines() if answer.code == 0 else ():
        case [head, ref]:
            return head, ref
    # No commit yet, or a branch that is itself called HEAD: ask one by one.
    ref = git.ask("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).out.decode("utf-8", "replace")
    answer = git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1))
    return answer.out.decode().strip() if answer.code == 0 else None, ref.rstrip("\n")


def is_dirty(source: SourceRepo) -> bool:
    """Tell whether a tracked file differs from HEAD now; untracked files do not count."""
    if not (source.own_dir / "index").exists():
        return True
    with checkout_git(source.own_dir, source.git_dir, source.root, source.head) as git:
        out = git.run(
            "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all"
        )
    return bool(out)


@contextmanager
def checkout_git(own_dir: Path, git_dir: Path, root: Path, head: str) -> Iterator[Git]:
    """Lend git on the user's own files and index, with nothing of the configuration beside them."""
    with scratch(git_dir, head, convert=True) as lent:
        git = lent.git(root).with_index(own_dir / "index")
        for shared in own_dir.glob("sharedindex.*"):
            (git.git_dir / shared.name).symlink_to(shared)
        yield git

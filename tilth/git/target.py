"""The target: the user's branch that accepted work is taken into, and the checkout it stands in.

The one place that moves a branch which is no session's. It moves by compare-and-swap, after the
checkout was seen to be clean and free of anything in the way; a checkout of the branch is brought
in step afterwards, by git's own rules for a fast-forward. No hook, filter or other configuration of
the repository is in force.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tilth.base.errors import UserError, WorkspaceError
from tilth.base.failpoint import reach
from tilth.base.values import Value
from tilth.git.command import Git, scratch, shown, writing
from tilth.git.source import SESSION_BRANCHES, SourceRepo, checkout_git, is_dirty, open_source

_HEADS = "refs/heads/"
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")


class Target(Value):
    """Name a branch, where it stands, and whether the repository's own checkout is on it."""

    branch: str
    tip: str
    checked_out: bool

    @property
    def ref(self) -> str:
        return _HEADS + self.branch


def open_target(source: SourceRepo, name: str) -> Target:
    """Find a branch that can take work, or say in one line why it cannot."""
    branch = name.removeprefix(_HEADS)
    if branch.startswith(SESSION_BRANCHES):
        raise UserError(f"{branch} is a session's own branch: name another with --into")
    git = Git(source.git_dir, source.git_dir)
    fits = git.ask("check-ref-format", _HEADS + branch, ok=(0, 1)).code == 0
    tip = _resolve(git, f"{_HEADS}{branch}^{{commit}}") if fits else None
    if tip is None:
        raise UserError(
            f"branch {branch!r} does not exist in {source.root}: name one with --into, or make "
            "it with `git branch`"
        )
    _refuse_elsewhere(source, git, branch)
    target = Target(branch=branch, tip=tip, checked_out=source.branch == branch)
    if target.checked_out and (is_dirty(source) or _is_busy(source.own_dir)):
        raise UserError(
            f"{branch} is checked out in {source.root} with uncommitted changes: commit or stash "
            "them first"
        )
    return target


def require_room(source: SourceRepo, target: Target, commit: str) -> None:
    """Refuse a checkout in which a file stands in the way of what would come."""
    if not target.checked_out:
        return
    with _copied_index(source) as git:
        git.ask("update-index", "-q", "--refresh", ok=(0, 1))
        step = ("read-tree", "-m", "-u", "--dry-run", target.tip, commit)
        if git.ask(*step, ok=(0, 128)).code != 0:
            names = ", ".join(_in_the_way(source, git, target.tip, commit)) or "a file"
            raise UserError(
                f"{names} in {source.root} would be overwritten: move it out of the way first"
            )


def move(source: SourceRepo, target: Target, commit: str) -> None:
    """Move the branch, and the checkout that stands on it; if one fails, neither has moved."""
    now = open_source(source.root)
    if open_target(now, target.branch) != target:
        raise UserError(f"{target.branch} was moved meanwhile: take again")
    require_room(now, target, commit)
    git = Git(source.git_dir, source.git_dir)
    reach("before moving the target")
    try:
        git.run("update-ref", "-m", "tilth: take", target.ref, commit, target.tip)
    except WorkspaceError as error:
        raise UserError(f"{target.branch} was moved meanwhile: take again ({error})") from None
    reach("after moving the target")
    if not target.checked_out:
        return
    try:
        _step(now, target.tip, commit)
    except WorkspaceError as error:
        git.run("update-ref", "-m", "tilth: take back", target.ref, target.tip, commit)
        raise UserError(f"the checkout in {source.root} cannot follow: {error}") from None
    reach("after the checkout followed")


def bring_in_step(source: SourceRepo, before: str, after: str) -> bool:
    """Finish a step of the checkout that was cut off; False if something of the user's is there."""
    if source.head != after:
        return True
    if not is_dirty(source) and not _differing(source, after):
        return True
    if _is_users(source, before, after):
        return False
    with checkout_git(source.own_dir, source.git_dir, source.root, source.head) as git:
        git.run("read-tree", "--reset", "-u", after)
        git.ask("update-index", "-q", "--refresh", ok=(0, 1))
    return True


def _step(source: SourceRepo, before: str, after: str) -> None:
    with checkout_git(source.own_dir, source.git_dir, source.root, source.head) as git:
        git.ask("update-index", "-q", "--refresh", ok=(0, 1))
        git.run("read-tree", "-m", "-u", before, after)


def _refuse_elsewhere(source: SourceRepo, git: Git, branch: str) -> None:
    """Refuse a branch under the feet of a worktree that is not the repository's own checkout."""
    here = os.path.realpath(source.root)
    for block in git.line("worktree", "list", "--porcelain").split("\n\n"):
        head, *about = block.split("\n")
        place = head.removeprefix("worktree ")
        if f"branch {_HEADS}{branch}" not in about or not os.path.isdir(place):
            continue
        if os.path.realpath(place) not in (here, os.path.realpath(source.git_dir)):
            raise UserError(f"{branch} is checked out at {place}: switch branches there first")
    for own in (source.git_dir, *sorted((source.git_dir / "worktrees").glob("*"))):
        for state in ("rebase-merge", "rebase-apply"):
            name = own / state / "head-name"
            if name.is_file() and name.read_text(errors="replace").strip() == _HEADS + branch:
                raise UserError(f"{branch} is being rebased: finish or abort the rebase first")


def _is_busy(own_dir: Path) -> bool:
    return any((own_dir / name).exists() for name in _UNDER_WAY)


def _resolve(git: Git, rev: str) -> str | None:
    answer = git.ask("rev-parse", "--verify", "--quiet", rev, ok=(0, 1))
    return answer.out.decode().strip() or None


def _in_the_way(source: SourceRepo, git: Git, before: str, after: str) -> Iterator[str]:
    listing = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A")
    for name in git.run(*listing, before, after).split(b"\0")[:-1]:
        if os.path.lexists(source.root / os.fsdecode(name)):
            yield shown(name)


def _is_users(source: SourceRepo, before: str, after: str) -> bool:
    """Tell whether the checkout holds anything that is neither the old commit nor the new one."""
    with _copied_index(source) as git:
        staged = ("diff-index", "--cached", "--quiet")
        if all(git.ask(*staged, rev, ok=(0, 1)).code for rev in (before, after)):
            return True
        known = {*git.run("ls-tree", "-r", "-z", "--name-only", before).split(b"\0")}
    old, new = _differing(source, before), _differing(source, after)
    untracked = {name for name in new - known if os.path.lexists(source.root / os.fsdecode(name))}
    return bool(old & new) or bool(untracked)


def _differing(source: SourceRepo, rev: str) -> set[bytes]:
    """Give the files of a commit that the checkout has otherwise, or not at all."""
    with scratch(source.git_dir, source.head, convert=True) as lent:
        git = lent.git(source.root)
        git.run("read-tree", rev)
        git.ask("update-index", "-q", "--refresh", ok=(0, 1))
        listing = ("diff-files", "-z", "--name-only", "--ignore-submodules=all")
        return {name for name in git.run(*listing).split(b"\0") if name}


@contextmanager
def _copied_index(source: SourceRepo) -> Iterator[Git]:
    """Lend git on the user's files with a copy of their index, which stays as it is."""
    with scratch(source.git_dir, source.head, convert=True) as lent:
        git = lent.git(source.root)
        with writing(lent.root):
            for shared in source.own_dir.glob("sharedindex.*"):
                (git.git_dir / shared.name).symlink_to(shared)
            if (source.own_dir / "index").exists():
                shutil.copyfile(source.own_dir / "index", lent.root / "index")
        yield git

"""Merging: one change put onto another tree, without touching a worktree or a ref.

`git merge-tree` finds the merge base by history, and its option to name one is newer than the git
we ask for. So the three trees are dressed as commits of our own, of which the base is the parent of
both others. They run in a scratch: no merge driver of the repository is ever started.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilth.base.errors import UserError, WorkspaceError
from tilth.git.changes import Conflict, Merged
from tilth.git.command import Git, scratch, shown, version, write_file
from tilth.git.source import SourceRepo

OLDEST = (2, 38)
_STILL = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Tilth"), ("EMAIL", "tilth@localhost"), ("DATE", "@0 +0000"))
}
# Conflicts are marked by these names, and by nothing that depends on the day.
_OURS, _THEIRS = "landed", "this-change"
_QUIET = ("-c", "merge.conflictStyle=merge", "-c", "merge.directoryRenames=false")


def merge(source: SourceRepo, *, base: str, onto: str, change: str) -> Merged:
    """Put what leads from tree `base` to tree `change` onto tree `onto`."""
    require_merging()
    with scratch(source.git_dir, source.head) as lent:
        git = lent.git(lent.root)
        root = _dressed(git, base)
        for name, tree in ((_OURS, onto), (_THEIRS, change)):
            dressed = _dressed(git, tree, root)
            write_file(lent.root / "git" / "refs" / "heads" / name, f"{dressed}\n".encode())
        answer = git.ask(
            *_QUIET, "merge-tree", "--write-tree", "-z", "--name-only", _OURS, _THEIRS, ok=(0, 1)
        )
    merged = _read(answer.out)
    if (answer.code == 0) != merged.clean:
        raise WorkspaceError("git merge-tree names conflicts and success at once")
    return merged


def require_merging() -> None:
    """Refuse a git that cannot merge without a worktree."""
    found = version()
    if found < OLDEST:
        mine, wanted = ".".join(map(str, found)), ".".join(map(str, OLDEST))
        raise UserError(
            f"git {mine} cannot put one change onto another: install git {wanted} or newer"
        )


def _dressed(git: Git, tree: str, *parents: str) -> str:
    tree = git.line("rev-parse", "--verify", f"{tree}^{{tree}}")
    line = [word for parent in parents for word in ("-p", parent)]
    return git.run("commit-tree", tree, *line, environment=_STILL).decode().strip()


def _read(out: bytes) -> Merged:
    """Read a tree, the files in conflict, an empty field, and what is said of each."""
    fields = iter(out.split(b"\0"))
    tree = next(fields).decode().strip()
    conflicted = []
    for field in fields:
        if not field:
            break
        conflicted.append(shown(field))
    said = tuple(_messages(fields))
    conflicts = tuple(message for message in said if message.kind.startswith("CONFLICT"))
    return Merged(tree=tree, conflicted=tuple(conflicted), conflicts=conflicts)


def _messages(fields: Iterator[bytes]) -> Iterator[Conflict]:
    for count in fields:
        if not count.strip():
            return
        paths = tuple(shown(next(fields)) for _ in range(int(count)))
        kind, message = next(fields), next(fields)
        yield Conflict(paths=paths, kind=shown(kind), message=shown(message).strip())

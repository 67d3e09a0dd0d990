"""Picking: a session's commits made anew on another tip, as objects alone.

A picked commit keeps author, dates and message, so the same pick gives the same commit again. The
seed tests of tasks that stay behind are taken out on both sides first. No ref, worktree or index of
the user is touched, and a conflict is never a result.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from tilth.base.values import Value
from tilth.git import trees
from tilth.git.changes import Merged
from tilth.git.command import Git, scratch
from tilth.git.commits import CommitRecord, read_commit, session_trailer
from tilth.git.merging import merge
from tilth.git.source import SESSION_BRANCHES, SourceRepo
from tilth.git.trees import tree_entries

_OWN = "Tilth <tilth@localhost>"


class Cut(Value):
    """Say which files stay behind on either side of a change; they are as `plain` has them."""

    plain: str
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()


def put_onto(source: SourceRepo, record: CommitRecord, onto: str, cut: Cut) -> Merged:
    """Merge what one commit did onto another tree."""
    parent = record.parent or cut.plain
    return merge(
        source,
        base=_without(source, parent, cut.before, cut.plain),
        onto=onto,
        change=_without(source, record.id, cut.after, cut.plain),
    )


def pick(source: SourceRepo, record: CommitRecord, *, tree: str, parent: str) -> str:
    """Write a commit as it was, but for its tree and parent."""
    git = _git(source)
    [raw] = git.read_objects([record.id])
    head, _, message = raw.partition(b"\n\n")
    signed = {line.split(b" ", 1)[0]: line for line in head.split(b"\n")}
    lines = [f"tree {tree}".encode(), f"parent {parent}".encode()]
    lines += [signed[b"author"], signed[b"committer"]]
    return _write(git, b"\n".join(lines) + b"\n\n" + message)


def squash(source: SourceRepo, last: CommitRecord, *, tree: str, parent: str, text: bytes) -> str:
    """Write one commit for several; it is as old as the last of them."""
    git = _git(source)
    [raw] = git.read_objects([last.id])
    when = raw.partition(b"\ncommitter ")[2].partition(b"\n")[0].rsplit(b"> ", 1)[-1].decode()
    lines = [f"tree {tree}", f"parent {parent}", f"author {_OWN} {when}"]
    lines.append(f"committer {_OWN} {when}")
    return _write(git, "\n".join(lines).encode() + b"\n\n" + text)


def tree_of(source: SourceRepo, rev: str) -> str:
    """Give the tree of a commit."""
    return trees.tree_of(source, rev)


def unreached(source: SourceRepo, tip: str, *others: str) -> tuple[str, ...]:
    """Give the commits of a tip that none of the others hold, oldest first."""
    span = [tip, "--not", *others]
    return tuple(_git(source).line("rev-list", "--reverse", *span).split())


def unreached_by_branches(source: SourceRepo, tip: str, own: str) -> tuple[str, ...]:
    """Give the commits of a branch that stand on no other branch, here or at a remote."""
    others = (f"--exclude={own}", "--branches", "--remotes")
    return tuple(_git(source).line("rev-list", "--reverse", tip, "--not", *others).split())


def made_anew(source: SourceRepo, session: str, since: str, *tips: str) -> tuple[CommitRecord, ...]:
    """Find a session's work on other branches by its trailers; with no tip, on all of them."""
    git = _git(source)
    where = tips or (f"--exclude={SESSION_BRANCHES}{session}", "--branches", "--remotes")
    found = ("rev-list", "--fixed-strings", f"--grep={session_trailer(session)}")
    ids = git.line(*found, *where, "--not", since).split()
    records = map(read_commit, ids, git.read_objects(ids))
    return tuple(record for record in records if record.session == session)


def contains(source: SourceRepo, tip: str, commits: Iterable[str]) -> bool:
    """Tell whether all of these commits, if they are still known, stand below a tip."""
    git = _git(source)
    ask = ("merge-base", "--is-ancestor")
    return all(git.ask(*ask, commit, tip, ok=(0, 1, 128)).code == 0 for commit in commits)


def _without(source: SourceRepo, rev: str, paths: Collection[str], plain: str) -> str:
    """Give a tree in which these paths are as the session found them."""
    if not paths:
        return rev
    names = sorted(paths)
    with scratch(source.git_dir, source.head) as lent:
        git = lent.git(lent.root)
        kept = tree_entries(git, plain, *names)
        git.run("read-tree", rev)
        lines = [_index_line(kept.get(os.fsencode(name)), name, len(plain)) for name in names]
        git.run("update-index", "-z", "--index-info", stdin=b"".join(lines))
        return git.line("write-tree")


def _index_line(entry: tuple[bytes, str] | None, name: str, width: int) -> bytes:
    mode, blob = entry or (b"0", "0" * width)
    return mode + f" {blob}\t".encode() + os.fsencode(name) + b"\0"


def _write(git: Git, raw: bytes) -> str:
    return git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=raw).decode().strip()


def _git(source: SourceRepo) -> Git:
    return Git(source.git_dir, source.git_dir)

"""The files that stand in a checkout and that its own ignore files keep out of git.

Only what the commit's `.gitignore` files say counts: a freeze of the worktree goes by them too.
Nothing is read but names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tilth.git.command import scratch
from tilth.git.freeze import BaseIgnores
from tilth.git.source import SourceRepo
from tilth.git.trees import tree_entries

_LISTED = ("ls-files", "--others", "--ignored", "--exclude-per-directory=.gitignore", "-z")


@dataclass(frozen=True)
class Listing:
    """Hold the files of a commit, and those beside them that its ignore files name."""

    tracked: frozenset[str]
    ignored: tuple[str, ...]


def list_ignored(source: SourceRepo, root: Path, base: str) -> Listing:
    """List what stands below `root` and is ignored by the rules of `base`."""
    with scratch(source.git_dir, source.head) as lent:
        git = lent.git(root)
        entries = tree_entries(git, base)
        git.run("read-tree", base)
        found = [path for path in git.run(*_LISTED).split(b"\0") if path and path[-1:] != b"/"]
        # The checkout's own ignore files may have been edited since.
        ruled = BaseIgnores(git, lent, entries)(found, ()) if found else set()
    return Listing(
        tracked=frozenset(map(os.fsdecode, entries)),
        ignored=tuple(sorted(os.fsdecode(path) for path in found if path in ruled)),
    )


def are_ignored(source: SourceRepo, base: str, paths: Iterable[str]) -> frozenset[str]:
    """Tell which paths the ignore files of a commit name, whether anything stands there or not."""
    wanted = [os.fsencode(path) for path in paths]
    with scratch(source.git_dir, source.head) as lent:
        git = lent.git(lent.root)
        found = BaseIgnores(git, lent, tree_entries(git, base))(wanted, ())
    return frozenset(map(os.fsdecode, found))

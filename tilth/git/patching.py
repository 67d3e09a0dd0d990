"""Patching: a unified diff put onto a tree, as objects alone."""

from __future__ import annotations

from tilth.git.command import scratch
from tilth.git.source import SourceRepo


def patched(source: SourceRepo, base: str, patch: str) -> str | None:
    """Write the tree a patch makes of `base`, or None where it does not fit; no file is touched."""
    with scratch(source.git_dir, source.head) as lent:
        git = lent.git(lent.directory("patch"))
        git.run("read-tree", base)
        apply = ("apply", "--cached", "--whitespace=nowarn", "-")
        if git.ask(*apply, stdin=patch.encode("utf-8"), ok=(0, 1, 128)).code != 0:
            return None
        return git.line("write-tree")

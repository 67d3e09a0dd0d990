"""The links of a tree: where in the same tree each of them leads to. Nothing is written."""

from __future__ import annotations

import posixpath

from tilth.git.command import Git, scratch, shown
from tilth.git.source import SourceRepo
from tilth.git.trees import Entries, tree_entries

_LINK = b"120000"
_MOST_STEPS = 8


def links(source: SourceRepo, rev: str, *below: str) -> dict[str, str]:
    """Give the links, all or those below a path, with what they lead to; none that leads out."""
    with scratch(source.git_dir, source.head) as lent:
        git = lent.git(lent.root)
        asked = [
            path for path, (mode, _) in tree_entries(git, rev, *below).items() if mode == _LINK
        ]
        if not asked:
            return {}
        targets = _targets(git, tree_entries(git, rev))
    led = {path: _followed(path, targets) for path in asked}
    return {shown(path): shown(to) for path, to in led.items() if to is not None}


def _targets(git: Git, entries: Entries) -> dict[bytes, bytes]:
    """Give what every link of a tree says, as a path from the tree's root."""
    found = {path: blob for path, (mode, blob) in entries.items() if mode == _LINK}
    said = git.read_objects(list(found.values()))
    return {
        path: _joined(posixpath.dirname(path), text) for path, text in zip(found, said, strict=True)
    }


def _followed(path: bytes, targets: dict[bytes, bytes]) -> bytes | None:
    for _ in range(_MOST_STEPS):
        link = _link_in(path, targets)
        if link is None:
            leads_out = path.startswith((b"/", b"..")) or path == b"."
            return None if leads_out else path
        path = _joined(targets[link], path[len(link) :].lstrip(b"/"))
    return None


def _link_in(path: bytes, targets: dict[bytes, bytes]) -> bytes | None:
    """Find the first part of a path that is a link."""
    parts = path.split(b"/")
    begun = (b"/".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((part for part in begun if part in targets), None)


def _joined(directory: bytes, path: bytes) -> bytes:
    return posixpath.normpath(posixpath.join(directory, path))

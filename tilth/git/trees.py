"""Trees of the repository, read and compared: files, contents, changes and diffs.

Renames are not looked for, so every path is plain. Content comes back as it is stored. Nothing is
written.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from tilth.git.changes import CUT, Change, ChangeSize, Status
from tilth.git.command import Git, scratch, shown, unshown
from tilth.git.kept import Kept, is_full
from tilth.git.source import SourceRepo

MOST_DIFF = 8 * 1024 * 1024

_LINK = b"120000"
_REGULAR = (b"100644", b"100755")
_MOST_LINKS = 8
_PATCH = ("diff-tree", "-p", "-r", "--full-index", "--no-renames", "--no-color")
_UNADORNED = ("--no-ext-diff", "--no-textconv")
# A run asks for the same few trees again and again; a large one is not worth its memory.
MOST_KEPT = 8
LARGEST_KEPT = 4_000
LARGEST_KEPT_DIFF = 256 * 1024
COUNTED = ("-r", "-z", "--numstat", "--no-renames", *_UNADORNED)


Entries = Mapping[bytes, tuple[bytes, str]]
_entries: Kept[Entries] = Kept(MOST_KEPT)
_too_large: Kept[bool] = Kept(64)
_diffs: Kept[str] = Kept(4)
_trees: Kept[str] = Kept(64)


def note_commit(source: SourceRepo, commit: str, tree: str) -> None:
    """Remember the tree of a commit that was just written."""
    _trees.put(tree, _store(source), commit)


def tree_of(source: SourceRepo, rev: str) -> str:
    """Name the tree of a commit, or of a tree itself."""
    known = _trees.get(_store(source), rev)
    if known is not None:
        return known
    git = Git(source.git_dir, source.git_dir)
    tree = git.line("rev-parse", "--verify", f"{rev}^{{tree}}")
    note_commit(source, rev, tree)
    return tree


def diff(source: SourceRepo, base: str, tree: str) -> str:
    """Compare two trees; binary files are named, not dumped, and what is too long is cut."""
    store = _store(source)
    pair = (_named(store, base), _named(store, tree))
    known = _diffs.get(store, *pair)
    if known is not None:
        return known
    text = _diff(source, base, tree)
    if len(text) <= LARGEST_KEPT_DIFF:
        _diffs.put(text, store, *pair)
    return text


def _diff(source: SourceRepo, base: str, tree: str) -> str:
    with scratch(source.git_dir, source.head) as lent:
        said = lent.git(lent.root).head(*_PATCH, *_UNADORNED, base, tree, most=MOST_DIFF)
    text = shown(said.out)
    if said.size <= MOST_DIFF:
        return text
    # The hash keeps two changes apart that differ only in what was left out.
    left = said.size - MOST_DIFF
    return f"{text}{CUT}{left} more bytes; sha256 of the whole diff {said.sha256}]\n"


def patch(git: Git, base: str, tree: str) -> bytes:
    """Compare two trees in a form that can be applied, binary files included."""
    return git.run(*_PATCH, *_UNADORNED, "--binary", base, tree)


def changes(source: SourceRepo, base: str, tree: str) -> tuple[Change, ...]:
    """List the paths that differ, in path order."""
    before, after = _known(source, base), _known(source, tree)
    if before is not None and after is not None:
        return tuple(_compared(before, after))
    listing = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", base, tree)
    with scratch(source.git_dir, source.head) as lent:
        fields = lent.git(lent.root).run(*listing).split(b"\0")[:-1]
    return tuple(
        Change(status=cast("Status", status.decode()), path=shown(path))
        for status, path in zip(fields[::2], fields[1::2], strict=True)
    )


def _compared(before: Entries, after: Entries) -> Iterator[Change]:
    """Compare two trees that are known, as git would."""
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new:
            yield Change(status=_status(old, new), path=shown(path))


def _status(old: tuple[bytes, str] | None, new: tuple[bytes, str] | None) -> Status:
    if old is None:
        return "A"
    if new is None:
        return "D"
    # The first digits of a mode tell a file, a link and a submodule apart.
    return "M" if old[0][:3] == new[0][:3] else "T"


def size(source: SourceRepo, base: str, tree: str) -> ChangeSize:
    """Count the lines that differ, and name the paths they are in."""
    with scratch(source.git_dir, source.head) as lent:
        return read_size(lent.git(lent.root).run("diff-tree", *COUNTED, base, tree))


def read_size(listing: bytes) -> ChangeSize:
    """Read what git says to COUNTED."""
    rows = [record.split(b"\t", 2) for record in listing.split(b"\0")[:-1]]
    return ChangeSize(
        paths=tuple(shown(path) for _, _, path in rows),
        added=sum(_lines(added) for added, _, _ in rows),
        deleted=sum(_lines(deleted) for _, deleted, _ in rows),
    )


def _lines(count: bytes) -> int:
    return 0 if count == b"-" else int(count)  # a binary file has no lines


def files(source: SourceRepo, rev: str) -> tuple[str, ...]:
    """List every file of a tree."""
    entries = _known(source, rev)
    if entries is None:
        with scratch(source.git_dir, source.head) as lent:
            entries = tree_entries(lent.git(lent.root), rev)
    return tuple(map(shown, entries))


def exists(source: SourceRepo, tree: str) -> bool:
    """Tell whether a tree is there at all."""
    with scratch(source.git_dir, source.head) as lent:
        asked = ("cat-file", "-e", f"{tree}^{{tree}}")
        return lent.git(lent.root).ask(*asked, ok=(0, 1, 128)).code == 0


def holds(source: SourceRepo, rev: str, path: str) -> bool:
    """Tell whether a tree has a file at or below a path."""
    with scratch(source.git_dir, source.head) as lent:
        return bool(tree_entries(lent.git(lent.root), rev, path))


def read(source: SourceRepo, rev: str, path: str) -> bytes | None:
    """Give a file's content, following links inside the tree; None if there is no such file."""
    if not _can_be_a_name(path):
        return None
    with scratch(source.git_dir, source.head) as lent:
        git = lent.git(lent.root)
        entry = _entry(git, rev, path)
        if entry is None and (raw := os.fsdecode(unshown(path))) != path:
            entry = _entry(git, rev, raw)
        for _ in range(_MOST_LINKS):
            if entry is None or entry[0] != _LINK:
                break
            [target] = git.read_objects([entry[1]])
            path = posixpath.normpath(posixpath.join(posixpath.dirname(path), os.fsdecode(target)))
            entry = _entry(git, rev, path)
        if entry is None or entry[0] not in _REGULAR:
            return None
        [content] = git.read_objects([entry[1]])
        return content


def tree_entries(git: Git, rev: str, *below: str) -> Entries:
    """Give mode and object of every path of a tree, or of the named paths alone."""
    store = git.objects or git.git_dir
    name = _named(store, rev)
    known = _entries.get(store, name)
    if known is not None:
        return _below(known, *below) if below else known
    # The whole tree answers the next question too, unless it is too large to be kept.
    if below and (not is_full(rev) or _too_large.get(store, name)):
        return _listed(git, rev, *below)
    entries = _listed(git, rev)
    if len(entries) <= LARGEST_KEPT:
        _entries.put(entries, store, name)
    else:
        _too_large.put(True, store, name)
    return _below(entries, *below) if below else entries


def _listed(git: Git, rev: str, *below: str) -> Entries:
    out = git.run("ls-tree", "-r", "-z", "--full-tree", rev, "--", *below)
    entries = {}
    for record in out.split(b"\0")[:-1]:
        about, _, path = record.partition(b"\t")
        mode, _, name = about.split(b" ")
        entries[path] = (mode, name.decode())
    return entries


def _store(source: SourceRepo) -> Path:
    return source.git_dir / "objects"


def _named(store: Path, rev: str) -> str:
    """Name a commit by its tree, if that is known: what holds for one holds for the other."""
    return _trees.get(store, rev) or rev


def _known(source: SourceRepo, rev: str) -> Entries | None:
    store = _store(source)
    return _entries.get(store, _named(store, rev))


def _below(entries: Entries, *paths: str) -> Entries:
    """Give the entries at or below some paths."""
    names = tuple(map(os.fsencode, paths))
    folders = tuple(name.rstrip(b"/") + b"/" for name in names)
    return {
        path: entry for path, entry in entries.items() if path in names or path.startswith(folders)
    }


def _entry(git: Git, rev: str, path: str) -> tuple[bytes, str] | None:
    parts = path.split("/")
    if not all(parts) or "." in parts or ".." in parts:
        return None
    return tree_entries(git, rev, path).get(os.fsencode(path))


def _can_be_a_name(path: str) -> bool:
    # A model may ask for any text at all.
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False

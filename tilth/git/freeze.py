"""The frozen tree: a worktree's content as one git tree, and that tree as files again.

A freeze starts from the recorded base in an index of our own. What the worker committed, staged,
hid from the index or excluded makes no difference, and bytes are stored as they are. An export is
the same bytes back. Neither touches the worktree's own index, any ref or the user's checkout.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tilth.contract.left_out import LeftOut
from tilth.git.changes import Frozen, Skipped
from tilth.git.command import Git, Scratch, scratch, shown, write_file, writing
from tilth.git.source import SourceRepo
from tilth.git.survey import Base, Survey, survey
from tilth.git.trees import tree_entries
from tilth.sandbox.removal import open_to_owner

_REGULAR = (b"100644", b"100755")


def freeze(source: SourceRepo, worktree: Path, base: str) -> Frozen:
    """Write the worktree's content as a tree, counted from `base`."""
    with scratch(source.git_dir, source.head) as lent:
        git = lent.git(worktree)
        found = stage(git, lent, base)
        tree = git.line("write-tree")
        # Whoever froze a tree asks for its files next, so listing it costs nothing.
        if found.added:
            note_refused(found, tree_entries(git, tree).keys())
        return Frozen(
            tree=tree,
            nested=tuple(shown(path) for path in sorted(set(found.nested))),
            skipped=tuple(
                Skipped(path=shown(path), why=why) for path, why in sorted(found.skipped.items())
            ),
        )


def stage(git: Git, lent: Scratch, base: str) -> Survey:
    """Bring git's index, still empty, to what stands in the work tree, counted from `base`."""
    open_to_owner(git.work_tree)
    entries = tree_entries(git, base)
    tracked = Base.of({path: mode for path, (mode, _) in entries.items()})
    found = survey(os.fsencode(git.work_tree), tracked, BaseIgnores(git, lent, entries))
    if found.leans_on(tracked):
        git.run("read-tree", base)
        removed = found.removed(tracked)
        if removed:
            git.run("update-index", "--force-remove", "-z", "--stdin", stdin=_joined(removed))
    if found.present:
        update = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        git.run(*update, stdin=_joined(sorted(found.present)))
    return found


def note_refused(found: Survey, held: Collection[bytes]) -> None:
    """Note the files that git would not track: it passes over them (a linked .gitmodules)."""
    held = set(held)
    for path in found.added:
        if path not in held:
            found.skipped[path] = LeftOut.REFUSED
            found.litter.append(path)


def export(source: SourceRepo, tree: str, into: Path) -> None:
    """Write every file of `tree` below `into`; attributes that hide or rewrite files are void."""
    with writing(into):
        into.mkdir(parents=True, exist_ok=True)
    with scratch(source.git_dir, source.head) as lent:
        lent.git(into.resolve()).run("read-tree", "--reset", "-u", tree)


class BaseIgnores:
    """Ask git what the base's own ignore files say, in a directory that holds nothing else."""

    def __init__(self, git: Git, lent: Scratch, entries: Mapping[bytes, tuple[bytes, str]]) -> None:
        self._git = git
        self._lent = lent
        self._rules = {
            path: blob
            for path, (mode, blob) in entries.items()
            if os.path.basename(path) == b".gitignore" and mode in _REGULAR
        }
        self._there: Git | None = None

    def __call__(self, paths: Sequence[bytes], directories: Iterable[bytes]) -> set[bytes]:
        if not self._rules:
            return set()
        there = self._there = self._there or self._lay_out()
        for directory in directories:
            # `build/` matches only what is a directory where git looks. A path that cannot be
            # made here is judged by the patterns that match either kind.
            with suppress(OSError):
                os.makedirs(os.path.join(os.fsencode(there.work_tree), directory))
        # This command refuses literal pathspecs; "./" keeps a leading ":" from being magic.
        answer = there.ask(
            *("check-ignore", "--no-index", "-z", "--stdin"),
            stdin=_joined(b"./" + path for path in paths),
            ok=(0, 1),
            environment={"GIT_LITERAL_PATHSPECS": "0"},
        )
        return {path.removeprefix(b"./") for path in answer.out.split(b"\0") if path}

    def _lay_out(self) -> Git:
        there = self._lent.directory("ignores")
        texts = self._git.read_objects(list(self._rules.values()))
        for path, text in zip(self._rules, texts, strict=True):
            write_file(there / os.fsdecode(path), text)
        return self._lent.git(there)


def _joined(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)

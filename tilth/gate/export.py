"""The export a validator runs in: a tree as files in a directory of its own, behind the wall.

Makes the directory, exports and overlays a tree, runs commands there confined, and takes all of it
away again. It does not know what the commands mean.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

from tilth.gate.overlay import Overlay, lay_out, place
from tilth.git.changes import Change
from tilth.sandbox.confinement import Access, Bind, Command, Confinement, Finished, run
from tilth.sandbox.removal import temporary_directory

# Every one costs a mount at each place the export is shown at, and mounts cost more the more there
# are. Files beyond it are held in memory and looked at afterwards.
_MOST_BOUND = 16

_Look = tuple[int, int, int, int] | None


class TreeSource(Protocol):
    """Read and export trees of the repository."""

    def export(self, tree: str, into: Path) -> None: ...

    def read(self, rev: str, path: str) -> bytes | None: ...

    def files(self, rev: str) -> tuple[str, ...]: ...

    def links(self, rev: str, below: str) -> dict[str, str]: ...

    def changes(self, base: str, tree: str) -> tuple[Change, ...]: ...

    def diff(self, base: str, tree: str) -> str: ...

    def tree_of(self, rev: str) -> str: ...


@dataclass(frozen=True)
class Runtime:
    """Hold where and how validators run: the wall, what it lets through, and the scratch space.

    `stands_for` are the checkouts an export takes the place of (source repository, worktree), so
    that an editable install which points there finds the export. `place` is taken for as long as a
    command runs.
    """

    # Writes every file of a tree below a directory.
    export: Callable[[str, Path], None]
    confinement: Confinement
    access: Access
    env: Mapping[str, str]
    python: Path
    ruff: Path
    scratch: Path
    stands_for: tuple[Path, ...] = ()
    place: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass
class Export:
    """Hold one export, ready to be proven, and the place beside it for what tools write.

    `kept` are the files that no command may change, gravest first, with how they looked.
    """

    runtime: Runtime
    root: Path
    kept: dict[str, _Look] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.root / "export"

    def keep(self, paths: Iterable[str], *, again: bool = False) -> None:
        """Let no command change these files; links among them become the files they lead to.

        `again` is for files that the gate itself has just put right.
        """
        for path in paths:
            if (again or path not in self.kept) and _is_plain(self.path, path):
                self.kept[path] = _look(self.path / path)

    def rewritten(self) -> tuple[str, ...]:
        """Name the kept files that were changed all the same, even if that was undone."""
        return tuple(path for path, look in self.kept.items() if _look(self.path / path) != look)

    def run(
        self, argv: Sequence[str], timeout_s: float, env: Mapping[str, str] | None = None
    ) -> Finished:
        """Run one command in the export, behind the wall."""
        command = Command(
            argv=tuple(argv),
            cwd=self.path,
            env={**self.runtime.env, "HOME": str(self.root / "home"), **(env or {})},
            timeout_s=timeout_s,
        )
        with self.runtime.place():
            finished = run(self.runtime.confinement.wrap(command, self._access()))
        return finished.model_copy(update={"output": self.named_plainly(finished.output)})

    def named_plainly(self, text: str) -> str:
        """Name the export's files as the repository does, so that a text tells no random path."""
        return text.replace(f"{self.path}{os.sep}", "").replace(str(self.path), ".")

    def _access(self) -> Access:
        runtime = self.runtime
        shown = [Bind(source=self.path, target=t, writable=True) for t in runtime.stands_for]
        kept = [bind for place in (self.path, *runtime.stands_for) for bind in self._closed(place)]
        return runtime.access.model_copy(
            update={
                "writable": (*runtime.access.writable, self.root),
                "readable": (*runtime.access.readable, *_interpreter(runtime.python), runtime.ruff),
                "binds": (*runtime.access.binds, *shown, *kept),
            }
        )

    def _closed(self, place: Path) -> Iterator[Bind]:
        """Bind kept files read-only, and pin the directories on the way, which could be moved."""
        bound = list(self.kept)[:_MOST_BOUND]
        pinned = {str(parent) for path in bound for parent in PurePosixPath(path).parents} - {"."}
        if bound and place == self.path:
            yield Bind(source=place, target=place, writable=True)
        for path in sorted(pinned):
            yield Bind(source=self.path / path, target=place / path, writable=True)
        for path in bound:
            yield Bind(source=self.path / path, target=place / path)


def _look(file: Path) -> _Look:
    """Tell a file from a changed one: whatever writes to it moves the time of its last change."""
    try:
        about = file.lstat()
    except OSError:
        return None
    return about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _is_plain(export: Path, path: str) -> bool:
    """Tell whether a path leads to a file by no link, after making a linked file a plain one."""
    parents = [export / parent for parent in PurePosixPath(path).parents]
    file = export / path
    if any(parent.is_symlink() for parent in parents) or not file.is_file():
        return False
    if file.is_symlink():
        if not file.resolve().is_relative_to(export.resolve()):
            return False
        place(export, path, file.read_bytes())
    return True


@contextmanager
def open_export(runtime: Runtime, tree: str, overlay: Overlay) -> Iterator[Export]:
    """Export a tree with its overlay; the directory is gone afterwards, come what may."""
    with open_bare(runtime) as export:
        runtime.export(tree, export.path)
        lay_out(overlay, export.path)
        export.keep(overlay.kept)
        yield export


@contextmanager
def open_bare(runtime: Runtime) -> Iterator[Export]:
    """Give an export of nothing at all."""
    runtime.scratch.mkdir(parents=True, exist_ok=True)
    with temporary_directory("gate-", runtime.scratch) as root:
        # A home of its own: what a worker left in its home must not reach what judges it.
        for name in ("export", "home"):
            (root / name).mkdir()
        yield Export(runtime=runtime, root=root)


def _interpreter(python: Path) -> tuple[Path, ...]:
    """Name the virtual environment, which the export would hide when it stands in the checkout."""
    home = python.parent.parent
    return (home,) if (home / "pyvenv.cfg").is_file() else ()

"""The bay a validator runs in: one export in a directory of its own, reached through the wall.

Makes the directory, exports and overlays a tree, runs commands there confined, and takes all of it
away again. It does not know what the commands mean.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tilth.changes import Change
from tilth.gate.overlay import Overlay, lay_out
from tilth.removal import temporary_directory
from tilth.sandbox import Access, Bind, Command, Confinement, Finished, run


class TreeSource(Protocol):
    """Read and export trees of the repository."""

    def export(self, tree: str, into: Path) -> None: ...

    def read(self, rev: str, path: str) -> bytes | None: ...

    def files(self, rev: str) -> tuple[str, ...]: ...

    def changes(self, base: str, tree: str) -> tuple[Change, ...]: ...

    def diff(self, base: str, tree: str) -> str: ...


@dataclass(frozen=True)
class Ground:
    """Hold where and how validators run: the wall, what it lets through, and the scratch space.

    `stands_for` are the checkouts an export takes the place of (source repository, worktree), so
    that an editable install which points there finds the export.
    """

    trees: TreeSource
    confinement: Confinement
    access: Access
    env: Mapping[str, str]
    python: Path
    ruff: Path
    scratch: Path
    stands_for: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Bay:
    """Hold one export, ready to be proven, and the place beside it for what tools write."""

    ground: Ground
    root: Path

    @property
    def export(self) -> Path:
        return self.root / "export"

    def run(
        self, argv: Sequence[str], timeout_s: float, env: Mapping[str, str] | None = None
    ) -> Finished:
        """Run one command in the export, behind the wall."""
        command = Command(
            argv=tuple(argv),
            cwd=self.export,
            env={**self.ground.env, "HOME": str(self.root / "home"), **(env or {})},
            timeout_s=timeout_s,
        )
        finished = run(self.ground.confinement.wrap(command, self._access()))
        return finished.model_copy(update={"output": self.homely(finished.output)})

    def homely(self, text: str) -> str:
        """Name the export's files as the repository does, so that a text tells no random path."""
        return text.replace(f"{self.export}{os.sep}", "").replace(str(self.export), ".")

    def _access(self) -> Access:
        ground = self.ground
        shown = [Bind(source=self.export, target=t, writable=True) for t in ground.stands_for]
        return ground.access.model_copy(
            update={
                "writable": (*ground.access.writable, self.root),
                "readable": (*ground.access.readable, *_interpreter(ground.python), ground.ruff),
                "binds": (*ground.access.binds, *shown),
            }
        )


@contextmanager
def open_bay(ground: Ground, tree: str, overlay: Overlay) -> Iterator[Bay]:
    """Export a tree with its overlay; the directory is gone afterwards, come what may."""
    ground.scratch.mkdir(parents=True, exist_ok=True)
    with temporary_directory("gate-", ground.scratch) as root:
        bay = Bay(ground=ground, root=root)
        ground.trees.export(tree, bay.export)
        lay_out(overlay, bay.export)
        # A home of its own: what a worker left in its home must not reach what judges it.
        (bay.root / "home").mkdir()
        yield bay


def _interpreter(python: Path) -> tuple[Path, ...]:
    """Name the virtual environment, which the export would hide when it stands in the checkout."""
    home = python.parent.parent
    return (home,) if (home / "pyvenv.cfg").is_file() else ()

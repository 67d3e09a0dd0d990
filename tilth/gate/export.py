"""The export a validator runs in: a tree as files in a directory of its own, behind the wall.

Makes the directory, exports and overlays a tree, runs commands there confined, and takes all of it
away again. It does not know what the commands mean.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from tilth.base.errors import UserError
from tilth.base.safe_text import one_line
from tilth.gate.overlay import Overlay, lay_out
from tilth.gate.pristine import SeedReading
from tilth.sandbox.confinement import Access, Bind, Command, Confinement, Finished, run
from tilth.sandbox.removal import temporary_directory


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
    # Files that git ignores and every tree is given, at their paths below this directory.
    carried: Path | None = None
    place: Callable[[], AbstractContextManager[None]] = nullcontext
    # What the interpreter has read in test files, by their text.
    readings: dict[bytes, SeedReading] = field(default_factory=dict)

    def unable(self, what: str, why: object) -> UserError:
        """Say that the interpreter cannot do what the gate needs, and the way out."""
        said = f"{self.python} cannot {what} ({one_line(str(why))})"
        return UserError(f"{said}: set TILTH_PYTHON to the project's Python")


@dataclass(frozen=True)
class Export:
    """Hold one export, ready to be proven, and the place beside it for what tools write."""

    runtime: Runtime
    root: Path

    @property
    def path(self) -> Path:
        return self.root / "export"

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
        return runtime.access.model_copy(
            update={
                "writable": (*runtime.access.writable, self.root),
                "readable": (*runtime.access.readable, *_interpreter(runtime.python), runtime.ruff),
                "binds": (*runtime.access.binds, *shown),
            }
        )


@contextmanager
def open_export(runtime: Runtime, tree: str, overlay: Overlay) -> Iterator[Export]:
    """Export a tree with its overlay; the directory is gone afterwards, come what may."""
    with open_bare(runtime) as export:
        runtime.export(tree, export.path)
        if runtime.carried is not None:
            lay_beside(runtime.carried, export.path)
        lay_out(overlay, export.path)
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


def lay_beside(carried: Path, into: Path) -> None:
    """Copy the files below a directory to where nothing stands yet; no link is followed."""
    for folder, _, names in os.walk(carried):
        below = Path(folder).relative_to(carried)
        if names and _has_room(into, below):
            for name in names:
                if not os.path.lexists(into / below / name):
                    shutil.copy(Path(folder, name), into / below / name)


def _has_room(root: Path, below: Path) -> bool:
    """Make a directory below another; tell whether it could be had without a link on the way."""
    place = root
    for part in below.parts:
        place = place / part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            return False
        place.mkdir(exist_ok=True)
    return True


def _interpreter(python: Path) -> tuple[Path, ...]:
    """Name the virtual environment, which the export would hide when it stands in the checkout."""
    home = python.parent.parent
    return (home,) if (home / "pyvenv.cfg").is_file() else ()

"""What a session carries: files that git ignores and that the project needs, for worktree and gate.

They come from the user's checkout and from what the project's setup makes, once, before the first
task. The session keeps a copy with its hash in `carried/`; from it alone they are laid into
worktrees and exports ever after. An empty directory there says that nothing is carried.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tilth.base.errors import CorruptSession
from tilth.base.failpoint import reach
from tilth.base.plain_file import read_inside, read_plain
from tilth.config.project import ProjectFacts
from tilth.config.readers import GENERATED, OFF, PROJECT
from tilth.config.settings import Settings
from tilth.gate.export import lay_beside
from tilth.git import trees
from tilth.git.ignored import list_ignored
from tilth.git.source import SourceRepo
from tilth.git.workspace import Workspace
from tilth.log.events import Carried, CarriedFile, Emit
from tilth.log.state import SessionState
from tilth.sandbox.removal import remove_tree
from tilth.session.carry_kinds import PACKAGING_FILES, Wish, chosen, is_secret, named_files
from tilth.session.session import Session
from tilth.session.store import make_private

CARRIED = "carried"
MOST_BYTES = 50_000_000
_BEGIN_BYTES = 64
# Each is one more thing to mount for every command.
_MOST_MOUNTS = 100
_MOST_NAMED = 5


@dataclass(frozen=True)
class Found:
    """Hold the files to carry with their sizes, and those that are too much."""

    sizes: dict[str, int]
    too_much: tuple[str, ...] = ()


def wish_of(settings: Settings, facts: ProjectFacts, source: SourceRepo, base: str) -> Wish | None:
    """Say what the user wants to be carried; None is nothing at all."""
    words = settings.carry
    if words == (OFF,):
        return None
    read = {name: trees.read(source, base, name) for name in PACKAGING_FILES}
    named = named_files({name: content for name, content in read.items() if content})
    if words == (GENERATED,):
        return Wish(named=named)
    # A repository names its user's files only for a user who has said that it may.
    return Wish(globs=facts.carry if words == (PROJECT,) else words, named=named)


def find(source: SourceRepo, root: Path, base: str, wish: Wish) -> Found:
    """Find what a checkout holds of what is wanted: the smallest first, up to the limit."""
    listing = list_ignored(source, root, base)
    sizes = {
        path: size
        for path in chosen(listing.ignored, listing.tracked, wish)
        if (size := _size(root, path)) is not None
    }
    kept: dict[str, int] = {}
    for path, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        if sum(kept.values()) + size > MOST_BYTES:
            break
        kept[path] = size
    return Found(dict(sorted(kept.items())), tuple(sorted(sizes.keys() - kept.keys())))


def _size(root: Path, path: str) -> int | None:
    """Give the size of an ordinary file that may be carried, whatever its name says it is."""
    try:
        about = os.lstat(root / path)
        if not stat.S_ISREG(about.st_mode):
            return None
        begin = read_inside(root, root / path, _BEGIN_BYTES)
    except OSError:
        return None
    return None if is_secret(path, begin) else about.st_size


def keep(root: Path, paths: Iterable[str], into: Path) -> None:
    """Copy files to their paths below `into`."""
    make_private(into)
    for path in paths:
        place = into / path
        make_private(place.parent)
        place.write_bytes(read_inside(root, root / path))
        place.chmod(0o600 | stat.S_IMODE(os.stat(root / path).st_mode) & 0o100)


def gather(source: SourceRepo, base: str, wish: Wish | None, into: Path) -> Found:
    """Copy what the user's checkout holds of what is wanted."""
    found = find(source, source.root, base, wish) if wish else Found({})
    keep(source.root, found.sizes, into)
    return found


def gather_made(
    source: SourceRepo, base: str, wish: Wish | None, worktree: Path, into: Path
) -> Found:
    """Copy what stands in a worktree after setup: what was laid there, and what setup made."""
    if wish is None:
        keep(worktree, (), into)
        return Found({})
    found = find(source, worktree, base, wish.model_copy(update={"everything": True}))
    if found.too_much:
        found = find(source, worktree, base, wish)
    keep(worktree, found.sizes, into)
    return found


def carried_by(session: Session) -> Path:
    """Name the directory in which a session keeps what it carries."""
    return session.directory / CARRIED


def lay_carried(session: Session, workspace: Workspace) -> None:
    """Lay what a session carries into a worktree, where it is missing."""
    lay_beside(carried_by(session), workspace.path)


def carried_paths(session: Session, workspace: Workspace) -> tuple[Path, ...]:
    """Name what is carried where it stands in a worktree, unless those are too many mounts."""
    place = carried_by(session)
    files = [path for path in place.rglob("*") if path.is_file()]
    if len(files) > _MOST_MOUNTS:
        return ()
    return tuple(workspace.path / path.relative_to(place) for path in sorted(files))


def record_of(carried: Path, too_much: tuple[str, ...] = ()) -> Carried:
    """Say what a directory of carried files holds."""
    files = tuple(_read(carried))
    return Carried(files=files, sha256=_hash(files), too_much=too_much)


def _read(carried: Path) -> Iterator[CarriedFile]:
    for path in sorted(carried.rglob("*")):
        if not path.is_dir():
            content = read_plain(path)
            yield CarriedFile(
                path=str(path.relative_to(carried)),
                bytes=len(content),
                sha256=hashlib.sha256(content).hexdigest(),
            )


def _hash(files: Iterable[CarriedFile]) -> str:
    text = "".join(f"{file.sha256}  {file.path}\n" for file in files)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def missed_by(source: SourceRepo, base: str, carried: Path, said: str) -> tuple[str, ...]:
    """Name the files of the checkout that git ignores, are not carried, and that tests speak of."""
    listing = list_ignored(source, source.root, base) if said else None
    if listing is None:
        return ()
    wanted = chosen(listing.ignored, listing.tracked, Wish(everything=True))
    return tuple(
        path
        for path in wanted
        if not (carried / path).exists() and any(name in said for name in _spoken_of(path))
    )[:_MOST_NAMED]


def _spoken_of(path: str) -> tuple[str, ...]:
    """Give the names by which a test that misses a file speaks of it."""
    stem = path.removeprefix("src/").removesuffix("/__init__.py").removesuffix(".py")
    module = (f"'{stem.replace('/', '.')}'",) if path.endswith(".py") else ()
    return (f"{path}'", *module)


class Carry:
    """Carry files for one session: found before the first task, laid into each of its worktrees."""

    def __init__(self, session: Session, memory: SessionState, emit: Emit) -> None:
        self._session = session
        self._memory = memory
        self._emit = emit
        self._place = carried_by(session)

    @property
    def is_settled(self) -> bool:
        """Tell whether it is decided what is carried; a session of old carries nothing."""
        return self._place.is_dir() or bool(self._memory.tasks)

    def begin(self, source: SourceRepo, wish: Wish | None, worktree: Path, base: str) -> None:
        """Lay what is wanted of the user's checkout into the worktree, for setup to find."""
        if self.is_settled or wish is None:
            lay_beside(self._place, worktree)
            return
        found = find(source, source.root, base, wish)
        staged = self._staged()
        keep(source.root, found.sizes, staged)
        lay_beside(staged, worktree)
        remove_tree(staged)

    def settle(self, source: SourceRepo, wish: Wish | None, worktree: Path, base: str) -> None:
        """Keep what stands in the worktree now, unless that was done before; put it on record."""
        if self._memory.carried is not None:
            self._require_same(self._memory.carried)
            return
        found = Found({})
        if not self.is_settled:
            staged = self._staged()
            found = gather_made(source, base, wish, worktree, staged)
            reach("before keeping what is carried")
            staged.rename(self._place)
            reach("after keeping what is carried")
        if self._place.is_dir():
            record = record_of(self._place, found.too_much)
            if record.files or record.too_much:
                self._emit(record)

    def _staged(self) -> Path:
        staged = self._session.directory / f".{CARRIED}.new"
        if staged.is_dir():
            remove_tree(staged)
        return staged

    def _require_same(self, recorded: Carried) -> None:
        if not self._place.is_dir() or record_of(self._place).sha256 != recorded.sha256:
            raise CorruptSession(
                f"{self._place} does not hold the files that this session carries: put them back "
                f"as they were, or start afresh with `tilth run --new`"
            )


def bring_along(recorded: Session, copy: Session) -> None:
    """Give the copy of a session what the session carries."""
    place = carried_by(recorded)
    if place.is_dir():
        shutil.copytree(place, carried_by(copy), dirs_exist_ok=True)
    else:
        make_private(carried_by(copy))

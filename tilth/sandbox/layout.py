"""The layout of what a confined command sees: its access turned into mounts, in their order.

It looks at the disk to follow links and to leave out what is not there, and changes nothing. No
wall trusts a link that stands where a confined command could have put it: such a path is refused.
Everything is looked at through `SeenPaths`, so that a layout can be used again for as long as what
it was made from still stands on the disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from tilth.base.errors import ToolError
from tilth.base.values import Value
from tilth.sandbox.confinement import Access
from tilth.sandbox.seen_paths import SeenPaths

_MOST_KEPT = 34
_MOST_LINKS = 40


class PlaceKind(IntEnum):
    """Say what a place is; on the very same path the greater one counts."""

    FRESH = 0
    WRITABLE = 1
    READABLE = 2
    HIDDEN = 3


class Mount(Value):
    """Hold one place as it will look: `source` is what stands there, None an empty directory."""

    kind: PlaceKind
    target: Path
    source: Path | None = None

    @property
    def is_empty(self) -> bool:
        return self.source is None


class Link(Value):
    """Hold a link that must be made again, because the directory it stands in is covered."""

    target: Path
    text: str


class Layout(Value):
    """Hold the mounts, the shallow ones first, and the links between them."""

    mounts: tuple[Mount, ...]
    links: tuple[Link, ...]

    def cover(self, path: Path) -> Mount | None:
        """Give the mount that a path would lie in; None means the system's own root."""
        return _cover({str(mount.target): mount for mount in self.mounts}, path)


class Layouts:
    """Give layouts, and give the last ones again while all they were made from still stands."""

    def __init__(self, fresh: Iterable[Path] = ()) -> None:
        self._fresh = tuple(fresh)
        # Several, because lanes ask in turns.
        self._last: tuple[tuple[Access, SeenPaths, Layout], ...] = ()

    def of(self, access: Access) -> Layout:
        """Order what an access names, as the disk is now."""
        known = self._last
        for before, seen, layout in reversed(known):
            if before == access and seen.still_holds():
                return layout
        seen = SeenPaths()
        layout = lay_out(access, self._fresh, seen)
        others = tuple(each for each in known if each[0] != access)
        self._last = (*others, (access, seen, layout))[-_MOST_KEPT:]
        return layout


@dataclass(frozen=True)
class Trail:
    """Hold where a path really leads, and the links that were followed on the way."""

    real: Path
    links: tuple[Link, ...]


def lay_out(access: Access, fresh: Iterable[Path] = (), seen: SeenPaths | None = None) -> Layout:
    """Order what an access names; `fresh` are directories that every command finds empty."""
    looking = seen or SeenPaths()
    found: dict[str, Mount] = {}
    links: dict[Path, Link] = {}
    for mount, trail in _wanted(access, fresh, looking):
        before = found.get(str(mount.target))
        if before is None or mount.kind >= before.kind:
            found[str(mount.target)] = mount
        if mount.kind is not PlaceKind.HIDDEN:
            links.update({link.target: link for link in trail.links})
    mounts = tuple(sorted(found.values(), key=lambda mount: len(mount.target.parts)))
    needed = tuple(mount for mount in mounts if _is_needed(found, mount))
    _refuse_links_on_the_way(needed, looking)
    covered = (link for link in links.values() if _is_covered(found, link.target))
    return Layout(mounts=needed, links=tuple(covered))


def follow(path: Path, seen: SeenPaths | None = None) -> Trail:
    """Follow a path, component by component; what does not exist is taken as it is written."""
    looking = seen or SeenPaths()
    links: list[Link] = []
    at = "/"
    names = list(Path(os.path.normpath(path)).parts[1:])
    while names:
        name = names.pop(0)
        if name == "..":
            at = os.path.dirname(at)
            continue
        step = os.path.join(at, name)
        text = looking.link(step) if len(links) < _MOST_LINKS else None
        if text is None:
            at = step
            continue
        links.append(Link(target=Path(step), text=text))
        onward = Path(text).parts
        if os.path.isabs(text):
            at, onward = "/", onward[1:]
        names[:0] = onward
    return Trail(path if at == str(path) else Path(at), tuple(links))


def _wanted(
    access: Access, fresh: Iterable[Path], seen: SeenPaths
) -> Iterator[tuple[Mount, Trail]]:
    writable = [follow(path, seen) for path in access.writable]
    open_to_all = [trail.real for trail in writable]
    for path in (*access.readable, *(bind.target for bind in access.binds)):
        _refuse_link(path, open_to_all, seen)
    for trail in (follow(path, seen) for path in fresh):
        if seen.is_directory(trail.real):
            yield Mount(kind=PlaceKind.FRESH, target=trail.real), trail
    for trail in writable:
        if not seen.exists(trail.real):
            raise ToolError(f"the directory {trail.real} does not exist")
        yield Mount(kind=PlaceKind.WRITABLE, target=trail.real, source=trail.real), trail
    for trail in (follow(path, seen) for path in access.readable):
        if seen.exists(trail.real):
            yield Mount(kind=PlaceKind.READABLE, target=trail.real, source=trail.real), trail
    yield from _pinned(access, seen)
    yield from _bound(access, open_to_all, seen)
    for trail in (follow(path, seen) for path in access.hidden):
        if seen.exists(trail.real):
            nothing = None if seen.is_directory(trail.real) else Path(os.devnull)
            yield Mount(kind=PlaceKind.HIDDEN, target=trail.real, source=nothing), trail


def _pinned(access: Access, seen: SeenPaths) -> Iterator[tuple[Mount, Trail]]:
    for pin in access.pinned:
        trail = follow(pin.target, seen)
        # Somebody may have put a link there since, which could lead to anything that is hidden.
        if trail.real == pin.source and seen.exists(trail.real):
            yield Mount(kind=PlaceKind.READABLE, target=trail.real, source=trail.real), trail


def _bound(
    access: Access, open_to_all: list[Path], seen: SeenPaths
) -> Iterator[tuple[Mount, Trail]]:
    for bind in access.binds:
        if _link_below(bind.source, open_to_all, seen) is not None:
            continue  # a command has led it elsewhere, and nothing of that is to be shown
        source, trail = follow(bind.source, seen).real, follow(bind.target, seen)
        if seen.exists(source):
            kind = PlaceKind.WRITABLE if bind.writable else PlaceKind.READABLE
            yield Mount(kind=kind, target=trail.real, source=source), trail


def _refuse_link(path: Path, writable: list[Path], seen: SeenPaths) -> None:
    link = _link_below(path, writable, seen)
    if link is not None:
        raise ToolError(f"{link} is a link where the sandbox needs a plain path: remove it")


def _link_below(path: Path, writable: list[Path], seen: SeenPaths) -> str | None:
    """Find a link on a path that a confined command could have put there."""
    inside = (root for root in writable if f"{path}/".startswith(f"{root}/"))
    links = (_first_link(root, path, seen) for root in inside)
    return next((link for link in links if link is not None), None)


def _first_link(root: Path, path: Path, seen: SeenPaths) -> str | None:
    at = str(root)
    for name in path.relative_to(root).parts:
        at = os.path.join(at, name)
        if seen.link(at) is not None:
            return at
    return None


def _cover(mounts: Mapping[str, Mount], path: Path) -> Mount | None:
    # Texts, not paths: this is asked often enough to be felt in every command.
    at = str(path)
    while at != "/":
        at = os.path.dirname(at)
        if at in mounts:
            return mounts[at]
    return None


def _is_covered(mounts: Mapping[str, Mount], path: Path) -> bool:
    cover = _cover(mounts, path)
    return str(path) not in mounts and cover is not None and cover.is_empty


def _is_needed(mounts: Mapping[str, Mount], mount: Mount) -> bool:
    """Leave out what looks the same without a mount of its own; each one costs time."""
    cover = _cover(mounts, mount.target)
    if mount.kind is PlaceKind.HIDDEN:
        # In an empty place no file shows; a directory is still made, so that it is read-only.
        keeps = cover is not None and cover.kind is PlaceKind.FRESH and mount.is_empty
        return cover is None or not cover.is_empty or keeps
    if mount.kind is PlaceKind.READABLE and mount.source == mount.target:
        return cover is not None and not (
            cover.kind is PlaceKind.READABLE and cover.source == cover.target
        )
    return True


def _refuse_links_on_the_way(mounts: tuple[Mount, ...], seen: SeenPaths) -> None:
    """See that no mount point in a writable place is a link that leads out of it."""
    by_target = {str(mount.target): mount for mount in mounts}
    for mount in mounts:
        cover = _cover(by_target, mount.target)
        if cover is None or cover.kind is not PlaceKind.WRITABLE or cover.source is None:
            continue
        there = cover.source / mount.target.relative_to(cover.target)
        _refuse_link(there, [cover.source], seen)

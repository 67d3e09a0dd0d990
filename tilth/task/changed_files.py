"""The files of a diff with their line counts, and a list of them that always fits. Pure."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from tilth.base.hidden_characters import escaped_line
from tilth.base.values import Value
from tilth.git.changes import path_in_diff

_HEADER = "diff --git "
# A link that is gone needs none: nothing is led to any more.
_SAYS_LINK = re.compile(r"(?:new file mode|new mode|index \S+) 120000$")
# More than the line that sums up what has no line of its own.
_LONGEST_REST = 200


class ChangedFile(Value):
    """Hold one file of a diff: where its part begins and ends, and what it adds and takes away."""

    path: str
    added: int = 0
    removed: int = 0
    binary: bool = False
    counted: bool = True
    link: bool = False
    start: int
    end: int

    def line(self) -> str:
        counts = "binary" if self.binary else f"+{self.added} -{self.removed}"
        counts = counts if self.counted else "not counted"
        return f"{escaped_line(self.path)} ({counts})"


def changed_files(diff: str) -> tuple[ChangedFile, ...]:
    """Read the files of a unified diff, in its order."""
    starts = tuple(_starts(diff))
    return tuple(
        _file(diff, start, end)
        for start, end in zip(starts, (*starts[1:], len(diff)), strict=False)
    )


@dataclass(frozen=True, order=True)
class _Group:
    """Hold files that are one line of a list; those of a directory can be told apart further."""

    number: int
    name: str
    directory: str | None = field(compare=False)
    files: Sequence[ChangedFile] = field(compare=False)

    def line(self) -> str:
        if self.number == 1:
            return self.files[0].line()
        added = sum(file.added for file in self.files)
        removed = sum(file.removed for file in self.files)
        name = escaped_line(self.name)
        return f"{name} ({self.number:,} files, +{added:,} -{removed:,})"

    def parts(self) -> list[_Group]:
        """Give what stands in a directory, its files by their endings; else each file alone."""
        if self.directory is None:
            return [_group(file.path, None, [file]) for file in self.files]
        below: dict[str, list[ChangedFile]] = {}
        beside: dict[str, list[ChangedFile]] = {}
        for file in self.files:
            first, inner, _ = file.path.removeprefix(self.directory).partition("/")
            found, name = (
                (below, f"{first}/") if inner else (beside, f"*{PurePosixPath(first).suffix}")
            )
            found.setdefault(f"{self.directory}{name}", []).append(file)
        kinds = [_group(name, None, held) for name, held in sorted(beside.items())]
        return kinds + [_group(name, name, held) for name, held in sorted(below.items())]


def _group(name: str, directory: str | None, files: Sequence[ChangedFile]) -> _Group:
    return _Group(len(files), name, directory, files)


def listing(files: Sequence[ChangedFile], room: int) -> tuple[str, ...]:
    """List every file in so many characters; of a flood, whole directories are summed up.

    The smallest directories are told apart first, so that no flood hides a file elsewhere.
    """
    lines = tuple(file.line() for file in files)
    if _length(lines) <= room:
        return lines
    waiting = _that_fit(_group("", "", files).parts(), room)
    room -= _length(group.line() for group in waiting)
    heapq.heapify(waiting)
    shown = []
    while waiting:
        group = heapq.heappop(waiting)
        parts = group.parts() if group.number > 1 else []
        cost = _length(part.line() for part in parts) - _length([group.line()])
        if parts and cost <= room:
            room -= cost
            for part in parts:
                heapq.heappush(waiting, part)
        else:
            shown.append(group)
    return tuple(group.line() for group in sorted(shown, key=lambda group: group.name))


def _that_fit(parts: list[_Group], room: int) -> list[_Group]:
    """Keep what stands at the root within the room, its files before its directories."""
    kept: list[_Group] = []
    left = room - _LONGEST_REST
    for place, part in enumerate(parts):
        left -= _length([part.line()])
        if left < 0:
            rest = [file for other in parts[place:] for file in other.files]
            return [*kept, _group("all other directories", None, rest)]
        kept.append(part)
    return kept


def _length(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _starts(diff: str) -> Iterator[int]:
    at = 0 if diff.startswith(_HEADER) else diff.find(f"\n{_HEADER}") + 1
    while at > 0 or diff.startswith(_HEADER, at):
        yield at
        found = diff.find(f"\n{_HEADER}", at)
        if found < 0:
            return
        at = found + 1


def _file(diff: str, start: int, end: int) -> ChangedFile:
    head, *body = diff[start:end].split("\n")
    hunks = next((i for i, line in enumerate(body) if line.startswith("@@ ")), len(body))
    lines = body[hunks:]
    return ChangedFile(
        path=_path(head, body[:hunks]),
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        binary=any(line.startswith("Binary files ") for line in body[:hunks]),
        link=any(map(_SAYS_LINK.match, body[:hunks])),
        start=start,
        end=end,
    )


def _path(head: str, about: list[str]) -> str:
    """Take the new name, else the old one of a file that is gone; a binary has the header alone."""
    for mark, prefix in (("+++ ", "b/"), ("--- ", "a/")):
        named = next((line[4:] for line in about if line.startswith(mark)), "/dev/null")
        name = path_in_diff(named)
        if name != "/dev/null":
            return name.removeprefix(prefix)
    both = head.removeprefix(_HEADER)
    # Renames are not looked for, so both halves name the same file.
    return path_in_diff(both[len(both) // 2 + 1 :]).removeprefix("b/")

"""The files of a diff, with their line counts, and which of them a cut leaves out. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tilth.base.values import Value

_MOST_LISTED = 2000
_HEADER = "diff --git "


class ChangedFile(Value):
    """Hold one file of a diff: where its part begins and ends, and what it adds and takes away."""

    path: str
    added: int
    removed: int
    binary: bool
    start: int
    end: int

    def line(self) -> str:
        counts = "binary" if self.binary else f"+{self.added} -{self.removed}"
        return f"{self.path} ({counts})"


def changed_files(diff: str) -> tuple[ChangedFile, ...]:
    """Read the files of a unified diff, in its order."""
    starts = tuple(_starts(diff))
    return tuple(
        _file(diff, start, end)
        for start, end in zip(starts, (*starts[1:], len(diff)), strict=False)
    )


def listing(files: tuple[ChangedFile, ...]) -> str:
    """List every file; of a flood the rest is summed up by directory."""
    lines = [file.line() for file in files[:_MOST_LISTED]]
    rest = Counter(file.path.rpartition("/")[0] or "." for file in files[_MOST_LISTED:])
    lines += [f"{directory}/ ({number} more files)" for directory, number in rest.items()]
    return "\n".join(lines)


def left_out(files: tuple[ChangedFile, ...], limit: int) -> str:
    """Name the files of which a diff that is cut shows nothing, or not all."""
    cut = [file for file in files if file.end > limit]
    return ", ".join(
        f"{file.path}{' (in part)' if file.start < limit else ''}" for file in cut[:_MOST_LISTED]
    )


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
        start=start,
        end=end,
    )


def _path(head: str, about: list[str]) -> str:
    """Take the new name, else the old one of a file that is gone; a binary has the header alone."""
    for mark, prefix in (("+++ ", "b/"), ("--- ", "a/")):
        named = next((line[4:] for line in about if line.startswith(mark)), "/dev/null")
        name = named.rstrip("\t").strip('"')
        if name != "/dev/null":
            return name.removeprefix(prefix)
    both = head.removeprefix(_HEADER)
    # Renames are not looked for, so both halves name the same file.
    return both[len(both) // 2 + 1 :].strip('"').removeprefix("b/")

"""A scan of a directory tree: its files by glob, their lines by regular expression.

Stands on the standard library alone, because grep runs this very file as a process of its own: a
regular expression can take for ever, and only a process can be stopped. So it also does without
what is slow to import, data classes above all. Directories are walked by descriptor and no symlink
is followed. Nothing is ever written but the matches, to stdout.

ripgrep is faster on large trees, but its expressions are not Python's, its walk follows the tree's
own ignore files, and neither stays below a root that a worker swaps for a symlink in between.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import resource
import stat
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import islice

MAX_DEPTH = 100
MAX_ENTRIES = 100_000
MAX_MEMORY_BYTES = 64 * 1024 * 1024
MAX_FILE_BYTES = 5 * 1024 * 1024
MAX_LINE_CHARS = 300
BAD_PATTERN = 2
NO_MEMORY = 3

CUT = f"[only the first {MAX_ENTRIES} entries were looked at: name a path to look further]"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SNIFF_BYTES = 8192


class Request:
    """Say what to look for and where; `only` names a single file of the folder."""

    def __init__(
        self,
        *,
        root: str,
        parts: tuple[str, ...],
        only: str | None,
        pattern: str,
        glob: str | None,
        limit: int,
        skipped: tuple[str, ...],
    ) -> None:
        self.root = root
        self.parts = parts
        self.only = only
        self.pattern = pattern
        self.glob = glob
        self.limit = limit
        self.skipped = skipped

    def to_json(self) -> str:
        return json.dumps(vars(self))

    @classmethod
    def from_json(cls, text: str) -> Request:
        fields = json.loads(text)
        return cls(**{**fields, "parts": tuple(fields["parts"])})


class Found:
    """Name one regular file by its folder's descriptor and its path below the start."""

    __slots__ = ("folder", "parts")

    def __init__(self, folder: int, parts: tuple[str, ...]) -> None:
        self.folder = folder
        self.parts = parts


class Budget:
    """Say what of a tree is skipped, and count how much of it may still be looked at."""

    __slots__ = ("left", "skipped")

    def __init__(self, skipped: Container[str], entries: int = MAX_ENTRIES) -> None:
        self.skipped = skipped
        self.left = entries

    @property
    def is_spent(self) -> bool:
        return self.left < 0

    def take(self, listing: Iterator[os.DirEntry[str]]) -> list[os.DirEntry[str]]:
        """Take the entries of one directory, as many as there may be, in order of their names."""
        entries = list(islice(listing, max(0, self.left) + 1))
        self.left -= len(entries)
        return sorted(entries, key=lambda entry: entry.name)


def walk(folder: int, budget: Budget, above: tuple[str, ...] = ()) -> Iterator[Found]:
    """Yield every regular file below a directory in order; what is skipped is not entered."""
    with os.scandir(folder) as listing:
        entries = budget.take(listing)
    if any(entry.name == "pyvenv.cfg" for entry in entries) and above:
        return
    for entry in entries:
        parts = (*above, entry.name)
        if entry.is_file(follow_symlinks=False):
            yield Found(folder, parts)
        elif entry.is_dir(follow_symlinks=False) and _is_wanted(parts, budget.skipped):
            yield from _below(folder, budget, parts)


def matcher(pattern: str) -> Callable[[Sequence[str]], bool]:
    """Compile a glob, where `**` stands for any number of directories."""
    steps = [_step(part) for part in pattern.split("/") if part not in ("", ".")]
    return lambda parts: _matches(steps, parts)


def descend(root: str, parts: Sequence[str]) -> int:
    """Open a directory below a root, one name at a time."""
    descriptor = os.open(root, _FOLDER)
    for name in parts:
        try:
            deeper = os.open(name, _FOLDER, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = deeper
    return descriptor


def printable(path: str) -> str:
    """Give a path as one line of text, however hostile its name."""
    return path if path.isprintable() else ascii(path)


def _is_wanted(parts: tuple[str, ...], skipped: Container[str]) -> bool:
    name = parts[-1]
    return len(parts) < MAX_DEPTH and name not in skipped and name.casefold() != ".git"


def _below(folder: int, budget: Budget, parts: tuple[str, ...]) -> Iterator[Found]:
    try:
        deeper = os.open(parts[-1], _FOLDER, dir_fd=folder)
    except OSError:  # gone, swapped for a symlink, or not ours to read
        return
    try:
        yield from walk(deeper, budget, parts)
    finally:
        os.close(deeper)


def _step(part: str) -> re.Pattern[str] | None:
    return None if part == "**" else re.compile(fnmatch.translate(part))


def _matches(steps: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> bool:
    # All places in the pattern at once: no number of `**` makes this slow.
    places = _opened(steps, {0})
    for part in parts:
        reached = set()
        for place in places - {len(steps)}:
            step = steps[place]
            if step is None:
                reached.add(place)
            elif step.match(part):
                reached.add(place + 1)
        places = _opened(steps, reached)
    return len(steps) in places


def _opened(steps: Sequence[re.Pattern[str] | None], places: set[int]) -> set[int]:
    """Let every `**` also stand for nothing."""
    opened = set(places)
    for place in places:
        following = place
        while following < len(steps) and steps[following] is None:
            following += 1
            opened.add(following)
    return opened


def _search(request: Request, pattern: re.Pattern[str], budget: Budget) -> Iterator[str]:
    folder = descend(request.root, request.parts)
    try:
        for found in _files(request, folder, budget):
            path = printable("/".join((*request.parts, *found.parts)))
            for number, line in enumerate(_lines(found), 1):
                match = pattern.search(line)
                if match:
                    yield f"{path}:{number}: {_cut(line, match.start())}"
    finally:
        os.close(folder)


def _files(request: Request, folder: int, budget: Budget) -> Iterator[Found]:
    if request.only is not None:
        yield Found(folder, (request.only,))
        return
    glob = request.glob or "**"
    is_wanted = matcher(glob if "/" in glob else f"**/{glob}")
    yield from (found for found in walk(folder, budget) if is_wanted(found.parts))


def _lines(found: Found) -> Iterator[str]:
    """Read a text file; what is binary, too large or not there any more has no lines."""
    try:
        descriptor = os.open(found.parts[-1], _FILE, dir_fd=found.folder)
    except OSError:
        return
    with open(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_FILE_BYTES:
            return
        if b"\0" in file.read(_SNIFF_BYTES):
            return
        file.seek(0)
        # one by one: a file of line feeds alone has millions of them
        for line in file:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")


def _cut(line: str, start: int) -> str:
    if len(line) <= MAX_LINE_CHARS:
        return line
    begin = max(0, min(start - MAX_LINE_CHARS // 4, len(line) - MAX_LINE_CHARS))
    end = begin + MAX_LINE_CHARS
    return ("…" if begin else "") + line[begin:end] + ("…" if end < len(line) else "")


def main(text: str) -> int:
    """Print the matches of one request, and how many were left out."""
    request = Request.from_json(text)
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    try:
        return _print(request, re.compile(request.pattern))
    except (re.error, OverflowError, RecursionError) as error:
        _write(f"the pattern is not a valid regular expression: {error}")
        return BAD_PATTERN
    except MemoryError:
        return NO_MEMORY


def _print(request: Request, pattern: re.Pattern[str]) -> int:
    count = 0
    budget = Budget(request.skipped)
    for line in _search(request, pattern, budget):
        count += 1
        if count <= request.limit:
            _write(f"{line}\n")
    if count > request.limit:
        _write(f"[{count - request.limit} more matches omitted: narrow the pattern or the path]\n")
    if budget.is_spent:
        _write(f"{CUT}\n")
    return 0


def _write(text: str) -> None:
    # At once: what was found before a pattern ran out of time still counts.
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

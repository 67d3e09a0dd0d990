"""JUnit reports: what a tool of any language wrote about its tests, counted by kind.

The bytes are the project's own and not trusted: no document type, no entities, bounded in size. A
count is for people and keeps a validator from passing with nothing run; it proves no more than the
command that wrote it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.parsers import expat

from tilth.base.errors import Unreadable

MOST_BYTES = 32 * 1024 * 1024
_MOST_FILES = 5000
_TESTCASE = "testcase"
_ENDINGS = {"failure": "failed", "error": "errors", "skipped": "skipped"}
_NOT_RUN = frozenset({"notrun", "disabled"})
# Where a test has several, the first of these is what it counts as.
_GRAVEST_FIRST = ("errors", "failed", "skipped", "passed")


def clear_reports(root: Path, pattern: str) -> None:
    """Take away the reports that stand there already: only what this run writes counts."""
    for path in _found(root, pattern):
        path.unlink()


def read_counts(root: Path, pattern: str) -> dict[str, int]:
    """Count the tests in the reports below a directory; `Unreadable` says what is wrong with them.

    A file that is reached by a link is none: it could lead anywhere.
    """
    paths = _found(root, pattern)
    if not paths:
        raise Unreadable(f"it wrote no JUnit report at {pattern}")
    return count_tests(_contents(root, paths))


def count_tests(reports: Iterable[tuple[str, bytes]]) -> dict[str, int]:
    """Count the test cases of named documents by how they ended."""
    endings = [ending for name, content in reports for ending in _Reading(name).endings(content)]
    counts = {"collected": len(endings)}
    for kind in reversed(_GRAVEST_FIRST):
        counts[kind] = endings.count(kind)
    return counts


def complaint(counts: dict[str, int]) -> str | None:
    """Say why a command that ended well has not passed by its own report, if it has not."""
    bad = counts["failed"] + counts["errors"]
    if bad:
        return f"its JUnit report holds {bad} tests that failed, though it exited with 0"
    if not counts["passed"]:
        return "its JUnit report holds no test that passed: nothing was proven"
    return None


class _Reading:
    """Read one document, test case by test case."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._endings: list[str] = []
        self._current: set[str] | None = None

    def endings(self, content: bytes) -> list[str]:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.Parse(content, True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise Unreadable(f"its JUnit report {self._name} is not valid XML: {error}") from None
        return self._endings

    def _refuse(self, *_: object) -> None:
        raise Unreadable(f"its JUnit report {self._name} has a document type: none is read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == _TESTCASE:
            idle = attributes.get("status", "").lower() in _NOT_RUN
            self._current = {"skipped" if idle else "passed"}
        elif self._current is not None and name in _ENDINGS:
            self._current.add(_ENDINGS[name])

    def _end(self, name: str) -> None:
        if name.rpartition(":")[2] == _TESTCASE and self._current is not None:
            self._endings.append(next(kind for kind in _GRAVEST_FIRST if kind in self._current))
            self._current = None


def _found(root: Path, pattern: str) -> list[Path]:
    """Find plain files; none of them is reached through a link."""
    try:
        found = sorted(root.glob(pattern))
    except (OSError, ValueError) as error:
        raise Unreadable(f"its JUnit reports at {pattern} cannot be looked for: {error}") from None
    return [path for path in found if _is_plain(root, path)][:_MOST_FILES]


def _is_plain(root: Path, path: Path) -> bool:
    between = [parent for parent in path.parents if parent != root and root in parent.parents]
    return not any(parent.is_symlink() for parent in between) and stat.S_ISREG(path.lstat().st_mode)


def _contents(root: Path, paths: list[Path]) -> Iterator[tuple[str, bytes]]:
    left = MOST_BYTES
    for path in paths:
        name = path.relative_to(root).as_posix()
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            content = file.read(left + 1)
        left -= len(content)
        if left < 0:
            raise Unreadable(f"its JUnit reports are larger than {MOST_BYTES >> 20} MB")
        yield name, content

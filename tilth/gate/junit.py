"""JUnit reports: what a tool of any language wrote about its tests, counted by kind.

The bytes are the project's own and not trusted: no document type, no entities, bounded in size. A
count is for people and keeps a validator from passing with nothing run; it proves no more than the
command that wrote it.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.parsers import expat

from tilth.base.errors import Unreadable

MOST_BYTES = 32 * 1024 * 1024
_MOST_FILES = 5000
_TESTCASE = "testcase"
_SUITES = ("testsuite", "testsuites")
# What a suite says of itself, and what may stand in it outside of any case.
_DECLARED = {"failures": "failed", "errors": "errors"}
_OUTSIDE = ("failure", "error")
_LONGEST_NUMBER = 10
_DEEPEST = 64
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
    """Count the test cases of named documents by how they ended.

    Where a suite says that more failed than its cases show, its word counts.
    """
    found: Counter[str] = Counter()
    for name, content in reports:
        found.update(_Reading(name).counts(content))
    return {kind: found[kind] for kind in ("collected", *reversed(_GRAVEST_FIRST))}


def complaint(counts: dict[str, int]) -> str | None:
    """Say why a command that ended well has not passed by its own report, if it has not."""
    bad = counts["failed"] + counts["errors"]
    if bad:
        return f"its JUnit report holds {bad} tests that failed, though it exited with 0"
    if not counts["passed"]:
        return "its JUnit report holds no test that passed: nothing was proven"
    return None


class _Reading:
    """Read one document, test case by test case and suite by suite."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._current: set[str] | None = None
        # What was counted in the document and in each suite that is open, and what they declare.
        self._counted: list[Counter[str]] = [Counter()]
        self._declared: list[Counter[str]] = []

    def counts(self, content: bytes) -> Counter[str]:
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        try:
            parser.Parse(content, True)
        except (expat.ExpatError, LookupError, ValueError) as error:
            raise Unreadable(f"its JUnit report {self._name} is not valid XML: {error}") from None
        return self._counted[0]

    def _refuse(self, *_: object) -> None:
        raise Unreadable(f"its JUnit report {self._name} has a document type: none is read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name in _SUITES:
            if len(self._declared) >= _DEEPEST:
                raise Unreadable(f"its JUnit report {self._name} nests suites too deep")
            self._counted.append(Counter())
            self._declared.append(self._declaration(attributes))
        elif name == _TESTCASE:
            idle = attributes.get("status", "").lower() in _NOT_RUN
            self._current = {"skipped" if idle else "passed"}
        elif name in _ENDINGS and self._current is not None:
            self._current.add(_ENDINGS[name])
        elif name in _OUTSIDE:
            # A suite whose set-up broke has it beside its cases, not in one.
            self._counted[-1][_ENDINGS[name]] += 1

    def _declaration(self, attributes: dict[str, str]) -> Counter[str]:
        said: Counter[str] = Counter()
        for name, kind in _DECLARED.items():
            text = attributes.get(name, "").strip()
            if text and not (text.isascii() and text.isdigit() and len(text) < _LONGEST_NUMBER):
                raise Unreadable(f"its JUnit report {self._name} has {name}={text[:20]!r}")
            said[kind] = int(text or 0)
        return said

    def _end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name in _SUITES:
            counted, declared = self._counted.pop(), self._declared.pop()
            # What a suite declares holds its own cases and those of the suites inside it.
            self._counted[-1] += counted | declared
        elif name == _TESTCASE and self._current is not None:
            kind = next(kind for kind in _GRAVEST_FIRST if kind in self._current)
            self._counted[-1].update((kind, "collected"))
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

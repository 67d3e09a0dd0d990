"""JUnit reports: what a tool of any language wrote about its tests, counted by kind.

The bytes are the project's own and not trusted: no document type, no entities, bounded in size. A
count is for people and keeps a validator from passing with nothing run; it proves no more than the
command that wrote it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.parsers import expat

from tilth.base.errors import Unreadable
from tilth.base.plain_file import read_plain

MOST_BYTES = 32 * 1024 * 1024
# The gravest first: where a test has several, the first of these is what it counts as.
_ENDINGS = {"error": "errors", "failure": "failed", "skipped": "skipped"}
_KINDS = ("collected", "passed", "skipped", "failed", "errors")
# What a suite says of itself: its word counts where its cases show less.
_DECLARED = {"failures": "failed", "errors": "errors"}


def clear_reports(root: Path, pattern: str) -> None:
    """Take away the reports that stand there already: only what this run writes counts."""
    for path in _found(root, pattern):
        path.unlink()


def read_counts(root: Path, pattern: str) -> dict[str, int]:
    """Count the tests in the reports below a directory; `Unreadable` says what is wrong with them.

    A file that is reached by a link is none: it could lead anywhere.
    """
    total, size, paths = Counter[str](), 0, _found(root, pattern)
    if not paths:
        raise Unreadable(f"it wrote no JUnit report at {pattern}")
    for path in paths:
        content = read_plain(path, MOST_BYTES - size)
        size += len(content)
        if size > MOST_BYTES:
            raise Unreadable(f"its JUnit reports are larger than {MOST_BYTES >> 20} MB")
        total.update(count_tests(path.relative_to(root).as_posix(), content))
    return dict(total)


def count_tests(name: str, content: bytes) -> dict[str, int]:
    """Count the test cases of one report by how they ended."""
    counted, declared = Counter[str](), Counter[str]()
    case: set[str] | None = None

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal case
        tag = tag.rpartition(":")[2]
        if tag == "testcase":
            is_idle = attributes.get("status", "").lower() in ("notrun", "disabled")
            case = {"skipped"} if is_idle else set()
        elif tag in _ENDINGS and case is not None:
            case.add(tag)
        elif tag in _ENDINGS:
            # A suite whose set-up broke has it beside its cases, not in one.
            counted[_ENDINGS[tag]] += 1
        elif tag in ("testsuite", "testsuites"):
            for said, kind in _DECLARED.items():
                declared[kind] = max(declared[kind], int(attributes.get(said, "").strip() or 0))

    def end(tag: str) -> None:
        nonlocal case
        if tag.rpartition(":")[2] == "testcase" and case is not None:
            kind = next((kind for tag, kind in _ENDINGS.items() if tag in case), "passed")
            counted.update((kind, "collected"))
            case = None

    def refuse(*_: object) -> None:
        raise Unreadable(f"its JUnit report {name} has a document type: none is read")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise Unreadable(f"its JUnit report {name} is not valid: {error}") from None
    return {kind: max(counted[kind], declared[kind]) for kind in _KINDS}


def complaint(counts: dict[str, int]) -> str | None:
    """Say why a command that ended well has not passed by its own report, if it has not."""
    bad = counts["failed"] + counts["errors"]
    if bad:
        return f"its JUnit report holds {bad} tests that failed, though it exited with 0"
    if not counts["passed"]:
        return "its JUnit report holds no test that passed: nothing was proven"
    return None


def _found(root: Path, pattern: str) -> list[Path]:
    """Find plain files; none of them is reached through a link."""
    real = root.resolve()
    found = (path for path in sorted(root.glob(pattern)) if path.is_file())
    return [path for path in found if path.resolve() == real / path.relative_to(root)]

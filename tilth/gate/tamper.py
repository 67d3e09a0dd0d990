"""What a change does to the gate instead of to the code, told from paths and the diff alone.

Says which added lines silence a check or reach for the test runner, and words what was restored.
These are notes for worker and evaluator; only the gate decides what passes. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tilth.values import Value

MOST_NOTES = 40

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("noqa", re.compile(r"#\s*(?:ruff:\s*|flake8[:=]\s*)?noqa\b", re.IGNORECASE)),
    ("ruff: ignore", re.compile(r"#\s*ruff:\s*(?:disable|ignore|file-ignore)\b")),
    ("type: ignore", re.compile(r"#\s*(?:type|pyright|mypy|ty):\s*ignore\b")),
    ("a skip or xfail mark", re.compile(r"\bmark\.(?:skip|skipif|xfail)\b")),
    ("a skip", re.compile(r"\bpytest\.(?:skip|xfail|importorskip)\b|\bskipTest\(")),
    ("unittest.skip", re.compile(r"\bunittest\.(?:skip\w*|expectedFailure|SkipTest)\b")),
    ("os._exit", re.compile(r"\b_exit\b")),
    ("atexit", re.compile(r"\batexit\b")),
    ("_pytest", re.compile(r"\b_pytest\b")),
    (
        "a reach into the running interpreter",
        re.compile(
            r"\b(?:_getframe|currentframe|settrace|setprofile|get_objects|get_referrers"
            r"|pluginmanager|PytestPluginManager|HookImpl)\b|\.__code__\b"
        ),
    ),
)


class Tampering(Value):
    """Name a file of the gate that the worker changed, and what was done about it."""

    path: str
    did: str

    def line(self) -> str:
        return f"{self.path}: {self.did}"


class AddedLine(Value):
    """Hold one line that a diff adds."""

    path: str
    number: int
    text: str


def suspicious_lines(diff: str) -> tuple[str, ...]:
    """List what silences a check or reaches for the test runner, each with its place."""
    notes = [
        f"{line.path}:{line.number}: adds {what}: {line.text.strip()[:120]}"
        for line in added_lines(diff)
        for what, pattern in _WORDS
        if pattern.search(line.text)
    ]
    return shortened(notes)


def added_lines(diff: str) -> Iterator[AddedLine]:
    """Read the added lines of a unified diff with the numbers they have in the new file."""
    path, number = "", 0
    left_old = left_new = 0
    for line in diff.split("\n"):
        if left_old <= 0 and left_new <= 0:
            if line.startswith("+++ "):
                path = _path(line[4:])
            elif match := _HUNK.match(line):
                number = int(match[1])
                left_old, left_new = _lengths(line)
        elif line.startswith("+"):
            yield AddedLine(path=path, number=number, text=line[1:])
            number, left_new = number + 1, left_new - 1
        elif line.startswith("-"):
            left_old -= 1
        elif not line.startswith("\\"):
            number, left_old, left_new = number + 1, left_old - 1, left_new - 1


def shortened(notes: Sequence[str]) -> tuple[str, ...]:
    """Keep a list of notes readable; the rest is counted."""
    if len(notes) <= MOST_NOTES:
        return tuple(notes)
    return (*notes[:MOST_NOTES], f"… and {len(notes) - MOST_NOTES} more of the same kind")


def nested_repositories(paths: Iterable[str]) -> str:
    """Word the rejection of git repositories inside the worktree."""
    return (
        f"git repositories inside the worktree cannot be committed or judged: {', '.join(paths)}. "
        "Remove their .git or move them out."
    )


def _lengths(header: str) -> tuple[int, int]:
    old, new = header.split(" ")[1:3]
    return _length(old), _length(new)


def _length(span: str) -> int:
    return int(span.partition(",")[2] or "1")


def _path(name: str) -> str:
    # git puts a tab after a name with spaces, and quotes one with control characters.
    return name.rstrip("\t").strip('"').removeprefix("b/")

"""What a change does to the gate instead of to the code, told from paths and the diff alone.

Says which added lines silence a check or reach for the test runner, and words what was restored.
These are notes for worker and evaluator; only the gate decides what passes. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum

from tilth.base.hidden_characters import escaped_line
from tilth.base.values import Value
from tilth.config.secrets import Mask
from tilth.gate.diff_lines import AddedLine, added_lines
from tilth.gate.steering import PYTHON_SUFFIXES

MOST_OF_A_KIND = 10

_CHANGED = "diff --git "
_Words = tuple[tuple[str, re.Pattern[str]], ...]
# The gravest first: of a flood of harmless ones nothing may hide behind it.
_IN_CODE: _Words = (
    ("os._exit", re.compile(r"\b_exit\b")),
    (
        "a reach into the running interpreter",
        re.compile(
            r"\b(?:_getframe|currentframe|settrace|setprofile|get_objects|get_referrers"
            r"|pluginmanager|PytestPluginManager|HookImpl)\b|\.__code__\b"
        ),
    ),
    ("_pytest", re.compile(r"\b_pytest\b")),
    ("atexit", re.compile(r"\batexit\b")),
    ("a skip or xfail mark", re.compile(r"\bmark\.(?:skip|skipif|xfail)\b")),
    ("a skip", re.compile(r"\bpytest\.(?:skip|xfail|importorskip)\b|\bskipTest\(")),
    ("unittest.skip", re.compile(r"\bunittest\.(?:skip\w*|expectedFailure|SkipTest)\b")),
)
_IN_COMMENTS: _Words = (
    ("type: ignore", re.compile(r"#\s*(?:type|pyright|mypy|ty):\s*ignore\b")),
    ("ruff: ignore", re.compile(r"#\s*ruff:\s*(?:disable|ignore|file-ignore)\b")),
    ("noqa", re.compile(r"#\s*(?:ruff:\s*|flake8[:=]\s*)?noqa\b", re.IGNORECASE)),
)


class TamperKind(IntEnum):
    """Say what kind of file of the gate was changed, the gravest first."""

    SEED = 0
    SHADOW = 1
    STEERING = 2
    SUPPORT = 3


class Tampering(Value):
    """Name a file of the gate that the worker changed, and what was done about it.

    `is_new` is one that stands in the place of nothing the base or the plan holds.
    """

    path: str
    did: str
    kind: TamperKind = TamperKind.STEERING
    is_new: bool = False

    def line(self) -> str:
        return f"{self.path}: {self.did}"


def tampering_notes(found: Iterable[Tampering]) -> tuple[str, ...]:
    """List what was put right, the gravest kind first, a limited number of each.

    Within a kind what is merely new comes last: anybody can add any number of files.
    """
    held = sorted(found, key=lambda item: item.is_new)
    return tuple(
        note
        for kind in TamperKind
        for note in shortened([item.line() for item in held if item.kind is kind])
    )


def suspicious_lines(diff: str) -> tuple[str, ...]:
    """List what silences a check or reaches for the test runner, each with its place."""
    lines = tuple(added_lines(diff))
    # Anybody can speak of these in any number of comments and texts: what is run comes first.
    by_effect = sorted(lines, key=_is_said_alone)
    found = [_adding(what, pattern, by_effect) for what, pattern in _IN_CODE]
    found += [_adding(what, pattern, lines) for what, pattern in _IN_COMMENTS]
    every = (note for notes in found for note in shortened(notes))
    return tuple(map(escaped_line, every))


def _adding(what: str, pattern: re.Pattern[str], lines: Iterable[AddedLine]) -> list[str]:
    return [
        f"{line.path}:{line.number}: adds {what}: {line.text.strip()[:120]}"
        for line in lines
        if pattern.search(line.text)
    ]


def _is_said_alone(line: AddedLine) -> bool:
    return not line.path.endswith(PYTHON_SUFFIXES) or line.text.lstrip().startswith("#")


def key_notes(diff: str, mask: Mask) -> tuple[str, ...]:
    """Name the places of a change in which a known key stands, its files' names included."""
    if not mask.finds(diff):
        return ()
    known = mask.known
    names = [
        f"a known key stands in the name of a file: {known(line)[len(_CHANGED) :][:200]}"
        for line in diff.split("\n")
        if line.startswith(_CHANGED) and known(line) != line
    ]
    lines = [
        f"a known key stands in {known(line.path)}:{line.number}"
        for line in added_lines(diff)
        if known(line.text) != line.text
    ]
    return (*shortened(names), *shortened(lines))


def shortened(notes: Sequence[str]) -> tuple[str, ...]:
    """Keep a list of notes of one kind readable; the rest is counted, with its files."""
    if len(notes) <= MOST_OF_A_KIND:
        return tuple(notes)
    rest = notes[MOST_OF_A_KIND:]
    files = list(dict.fromkeys(note.partition(":")[0] for note in rest))
    more = f" and {len(files) - MOST_OF_A_KIND} other files" if len(files) > MOST_OF_A_KIND else ""
    named = f"{', '.join(files[:MOST_OF_A_KIND])}{more}"
    return (*notes[:MOST_OF_A_KIND], f"… and {len(rest)} more of the same kind, in {named}")

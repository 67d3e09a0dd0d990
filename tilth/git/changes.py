"""What a freeze found and how two trees differ, as values.

Paths are text that can always be written: bytes that are not UTF-8 stand as `\\xNN`.
"""

from __future__ import annotations

import re
from typing import Literal

from tilth.base.values import Value
from tilth.contract.left_out import LeftOut

Status = Literal["A", "M", "D", "T"]

# Begins the last line of a diff that was too long to be given whole; no line of a diff begins so.
CUT = "\n[cut: "
_QUOTED = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS = dict(zip("abtnvfr", "\a\b\t\n\v\f\r", strict=True))


class Change(Value):
    """Name one path that differs between two trees."""

    status: Status
    path: str


def is_cut(diff: str) -> bool:
    """Tell whether a diff was too long to be given whole."""
    return CUT in diff[-200:]


def path_in_diff(name: str) -> str:
    """Read a path as a diff writes it: quoted where it holds a control character or a quote."""
    # git puts a tab after a name with spaces.
    name = name.rstrip("\t")
    if not (len(name) > 1 and name.startswith('"') and name.endswith('"')):
        return name
    return _QUOTED.sub(_unquoted, name[1:-1])


def _unquoted(match: re.Match[str]) -> str:
    said = match[1]
    if said == "x":
        # Not git's: a byte that is no text was written so when the diff was read.
        return match[0]
    return chr(int(said, 8)) if len(said) == 3 else _LETTERS.get(said, said)


class Skipped(Value):
    """Name a file that could not enter a tree, and why."""

    path: str
    why: LeftOut


class Frozen(Value):
    """Name a frozen tree, the git repositories found inside it, and what did not make it in."""

    tree: str
    nested: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class Conflict(Value):
    """Name files that could not be merged, and say why in git's own words."""

    paths: tuple[str, ...]
    kind: str
    message: str


class Merged(Value):
    """Hold the merged tree; with conflicts it holds their markers and is no result."""

    tree: str
    conflicted: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.conflicted and not self.conflicts


def same_patch(before: str, after: str) -> bool:
    """Tell whether two diffs change the same lines in the same surroundings, wherever they stand.

    Line numbers and the names of whole blobs do not count, unless only the blobs tell two binary
    files apart.
    """
    return _wherever(before) == _wherever(after)


def _wherever(diff: str) -> list[str]:
    kept: list[str] = []
    for section in re.split(r"(?m)^(?=diff --git )", diff):
        if "\nBinary files " not in section:
            section = re.sub(r"(?m)^index [0-9a-f]+\.\.[0-9a-f]+", "index", section, count=1)
        kept.append(re.sub(r"(?m)^@@ -[0-9,]+ \+[0-9,]+ @@.*$", "@@", section))
    return kept


class ChangeSize(Value):
    """Say how large a change is; a binary file counts as a path without lines."""

    paths: tuple[str, ...] = ()
    added: int = 0
    deleted: int = 0

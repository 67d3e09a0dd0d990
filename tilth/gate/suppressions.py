"""The suppressions of a change: what in its lines works against the checks that are run on it.

One list for the evaluator, who is told of it with the case, and for the person who reads the
report. Pure but for the reading that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tilth.base.hidden_characters import escaped_line
from tilth.gate.patches import patch_notes
from tilth.gate.tampering import suspicious_lines
from tilth.git.changes import Change

Read = Callable[[str], bytes | None]


def suppressions(
    diff: str,
    changes: Iterable[Change],
    *,
    read_base: Read,
    read_tree: Read,
) -> tuple[str, ...]:
    """List what replaces tested code, and what silences a check."""
    patches = patch_notes(changes, read_base, read_tree)
    return (*map(escaped_line, patches), *suspicious_lines(diff))

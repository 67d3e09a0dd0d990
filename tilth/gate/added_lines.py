"""The lines a change adds to a file, found without git: pure."""

from __future__ import annotations

from difflib import SequenceMatcher

# Beyond it the comparison would take longer than it is worth: the whole stretch counts as new.
_MOST_COMPARED = 4_000_000


def added_lines(before: bytes | None, after: bytes) -> frozenset[int]:
    """Number the lines, from 1, that stand in the new text and not in the old."""
    old = before.splitlines() if before else []
    new = after.splitlines()
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if len(old) * len(new) > _MOST_COMPARED:
        return frozenset(range(start + 1, start + len(new) + 1))
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return frozenset(
        start + line + 1
        for kind, _, _, first, last in steps
        if kind in ("insert", "replace")
        for line in range(first, last)
    )


def _common(left: list[bytes], right: list[bytes]) -> int:
    """Count the lines both begin with."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count

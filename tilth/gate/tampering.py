"""What a change does to the files of the gate, worded for worker and evaluator.

These are notes; only the gate decides what passes. Pure but for the reading that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum

from tilth.base.values import Value
from tilth.config.secrets import Mask
from tilth.gate.steering import is_test_file
from tilth.git.changes import Change

MOST_OF_A_KIND = 10


class TamperKind(IntEnum):
    """Say what kind of file of the gate was changed, the gravest first."""

    SEED = 0
    SHADOW = 1
    STEERING = 2
    SUPPORT = 3


class Tampering(Value):
    """Name a file of the gate that the worker changed, and what was done about it.

    `copy_used` is what took its place; without one it was left out. `is_new` is one that stands in
    the place of nothing the base or the plan holds. A `fault` fails the case.
    """

    path: str
    did: str
    kind: TamperKind = TamperKind.STEERING
    is_new: bool = False
    copy_used: bytes | None = None
    fault: str = ""


def tampering_notes(found: Iterable[Tampering]) -> tuple[str, ...]:
    """List what was put right, the gravest kind first, a limited number of each.

    Within a kind what is merely new comes last: anybody can add any number of files. Tests that
    were edited are told of by the suite.
    """
    kinds: dict[TamperKind, list[str]] = {kind: [] for kind in TamperKind}
    for each in sorted(found, key=lambda each: each.is_new):
        if each.kind is not TamperKind.SUPPORT or not is_test_file(each.path):
            kinds[each.kind].append(f"{each.path}: {each.did}")
    return tuple(note for notes in kinds.values() for note in shortened(notes))


def key_notes(
    changes: Iterable[Change], read: Callable[[str], bytes | None], mask: Mask
) -> tuple[str, ...]:
    """Name the places of changed files in which a known key stands, and such names of files."""
    found = []
    for change in changes:
        path = mask.known(change.path)
        if path != change.path:
            found.append(f"a known key stands in the name of a file: {path[:200]}")
        content = read(change.path) if change.status != "D" else None
        text = (content or b"").decode("utf-8", "replace")
        for number, line in enumerate(text.split("\n") if mask.finds(text) else (), 1):
            if mask.known(line) != line:
                found.append(f"a known key stands in {path}:{number}")
    return shortened(found)


def shortened(notes: Sequence[str]) -> tuple[str, ...]:
    """Keep a list of notes of one kind readable; the rest is counted, with its files."""
    if len(notes) <= MOST_OF_A_KIND:
        return tuple(notes)
    rest = notes[MOST_OF_A_KIND:]
    files = list(dict.fromkeys(note.partition(":")[0] for note in rest))
    more = f" and {len(files) - MOST_OF_A_KIND} other files" if len(files) > MOST_OF_A_KIND else ""
    named = f"{', '.join(files[:MOST_OF_A_KIND])}{more}"
    return (*notes[:MOST_OF_A_KIND], f"… and {len(rest)} more of the same kind, in {named}")

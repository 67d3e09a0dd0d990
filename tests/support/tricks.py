"""The table of tricks as data: what a worker changes, what becomes of it, and its honest twin.

A file of `tests/attacks/tricks/` holds some classes of them. A line that begins with `=== ` begins
a row and is the row: `=== outcome: what is said | name | honest twin`. Below it stands the text of
`calc.py`, and after each `--- path` that of another file, `--- path (deleted)` or a link,
`--- path -> target`. The row `=== base | class | may_change` begins a class with its project,
`=== twin | name` is honest work on it. Signs that editors change are written as `<FF>`, `<CR>`,
`<BLANKS>` or `<U+202E>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "attacks" / "tricks"
CODE = "calc.py"
_ROW, _FILE, _DELETED, _LINK = "=== ", "--- ", " (deleted)", " -> "
_SIGNS = {"<FF>": "\f", "<CR>": "\r", "<BLANKS>": " " * 300}
_NUMBERED = re.compile(r"<U\+([0-9A-F]{4,5})>")


@dataclass(frozen=True)
class Row:
    """Hold a row: its outcome, what must be said, and the files that are changed.

    `more` names the honest work that uses the same technique; of a base it is what may be changed.
    """

    outcome: str
    says: str
    name: str
    more: str
    files: dict[str, str | None]
    links: dict[str, str]


@dataclass(frozen=True)
class TrickClass:
    """Hold a class of tricks: the project they are played on, the tricks, and the honest twins."""

    name: str
    base: dict[str, str]
    may_change: tuple[str, ...]
    tricks: tuple[Row, ...]
    twins: tuple[Row, ...]


def trick_classes() -> list[TrickClass]:
    """Read the whole table."""
    return [
        made for path in sorted(FOLDER.glob("*.txt")) for made in _read(path.read_text("utf-8"))
    ]


def _read(text: str) -> Iterator[TrickClass]:
    _, *blocks = f"\n{text}".split(f"\n{_ROW}")
    rows = [_row(*block.partition("\n")[::2]) for block in blocks]
    starts = [number for number, row in enumerate(rows) if row.outcome == "base"]
    for start, end in pairwise([*starts, len(rows)]):
        base, *others = rows[start:end]
        files = {path: text for path, text in base.files.items() if text is not None}
        twins = tuple(row for row in others if row.outcome == "twin")
        tricks = tuple(row for row in others if row.outcome != "twin")
        permitted = tuple(filter(None, base.more.split(", ")))
        yield TrickClass(base.name, files, permitted, tricks, twins)


def _row(head: str, body: str) -> Row:
    fate, name, more = ([part.strip() for part in head.split(" | ")] + ["", ""])[:3]
    outcome, _, says = fate.partition(": ")
    files: dict[str, str | None] = {}
    links: dict[str, str] = {}
    for title, text in _files(body):
        if title.endswith(_DELETED):
            files[title.removesuffix(_DELETED)] = None
        elif _LINK in title:
            path, _, target = title.partition(_LINK)
            links[path] = target
        else:
            files[title] = _signs(text)
    return Row(outcome, says, name, more, files, links)


def _files(body: str) -> Iterator[tuple[str, str]]:
    first, *others = f"\n{body}".split(f"\n{_FILE}")
    if first.strip():
        yield CODE, first.strip("\n") + "\n"
    for other in others:
        title, _, text = other.partition("\n")
        yield title, text.strip("\n") + "\n" if text.strip("\n") else ""


def _signs(text: str) -> str:
    for written, sign in _SIGNS.items():
        text = text.replace(written, sign)
    return _NUMBERED.sub(lambda found: chr(int(found[1], 16)), text)

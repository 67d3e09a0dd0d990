"""The pages of the docs as a reader sees them: blocks of code, the commands in them, headings.

A comment in the line before a block says what it is: `<!-- needs a key -->`, or for the content of
a file `<!-- file: NAME -->`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KEY = "needs a key"
_FENCED = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n+)?^```(?P<kind>\w*)[^\n]*\n(?P<text>.*?)^```$", re.M | re.S
)
_INDENTED = re.compile(r"(?:^<!-- (?P<mark>[^\n]*) -->\n+)?(?P<text>(?:^    [^\n]*\n)+)", re.M)
_BEFORE = re.compile(r"^\$ |^(?:[A-Z_]+=\S+ )+")
_PROGRAMS = (".venv/bin/tilth", "tilth", "make")


@dataclass(frozen=True)
class Block:
    """Hold one block of code, what kind it is of, and what the page says of it."""

    page: str
    kind: str
    text: str
    mark: str = ""

    @property
    def file(self) -> str:
        """Name the file it is the content of, if it is."""
        return self.mark.removeprefix("file: ") if self.mark.startswith("file: ") else ""


@dataclass(frozen=True)
class DocCommand:
    """Hold one command as the docs show it."""

    page: str
    line: str
    words: tuple[str, ...]
    needs_key: bool

    @property
    def verb(self) -> str:
        return next((word for word in self.words[1:] if not word.startswith("-")), "")


def pages() -> list[Path]:
    """Give every page that people read."""
    return [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """Give a page's blocks of code, fenced ones and then indented ones."""
    text = page.read_text("utf-8")
    found = [
        Block(page.name, match["kind"], match["text"], match["mark"] or "")
        for match in _FENCED.finditer(text)
    ]
    rest = _FENCED.sub("", text)
    return found + [
        Block(page.name, "", _dedented(match["text"]), match["mark"] or "")
        for match in _INDENTED.finditer(rest)
    ]


def _dedented(text: str) -> str:
    return "".join(line[4:] for line in text.splitlines(keepends=True))


def commands() -> Iterator[DocCommand]:
    """Give every command of Tilth and of make that a block of code shows."""
    for page in pages():
        for block in blocks(page):
            for line in block.text.splitlines():
                yield from _in_line(block, line)


def _in_line(block: Block, line: str) -> Iterator[DocCommand]:
    for part in re.split(r" \| | && ", _BEFORE.sub("", line.strip())):
        head = part.split(" ", 1)[0]
        if head in _PROGRAMS:
            words = tuple(shlex.split(part, comments=True))
            yield DocCommand(block.page, line.strip(), words, block.mark == KEY)


def anchors(page: Path) -> set[str]:
    """Give the names that links can lead to on a page."""
    text = _FENCED.sub("", page.read_text("utf-8"))
    return {_slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def _slug(heading: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain).strip().lower().replace(" ", "-")

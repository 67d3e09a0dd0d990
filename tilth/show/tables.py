"""Tables: results on stdout, as coloured tables on a terminal and as plain text in a pipe.

Whatever is put on it is made inert here, so that no caller can forget it, and nothing is read as
markup. It owns the drawing, not the words.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from tilth.base.safe_text import inert, one_line
from tilth.config.secrets import Mask
from tilth.show.live import wants_live
from tilth.show.note import STYLES, Tone
from tilth.show.pen import is_utf8, speak_plainly

if TYPE_CHECKING:
    from rich.console import Console

_CELL_LIMIT = 400
_GAP = "  "
_NARROWEST = 8


@dataclass(frozen=True, slots=True)
class Column:
    """Describe a column; on a terminal narrower than `wide` it is left out.

    What is `whole` is never cut, what is `folded` goes on in the next line; all else may be cut.
    """

    title: str
    right: bool = False
    wide: int = 0
    whole: bool = False
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """Hold one text of a table and how it is meant."""

    text: str
    tone: Tone = Tone.PLAIN


class Page:
    """Put lines, tables and documents on one stream."""

    def __init__(
        self,
        stream: TextIO,
        environ: Mapping[str, str],
        *,
        columns: int | None = None,
        mask: Mask | None = None,
    ) -> None:
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
        speak_plainly(stream)
        self._stream = stream
        self._columns = columns
        self._mask = mask or Mask()
        self._colour = wants_live(stream, environ)
        self._rich: Console | None = self._open_rich() if _is_terminal(stream) else None

    @classmethod
    def out(cls, environ: Mapping[str, str], mask: Mask | None = None) -> Page:
        """Give the page that is stdout; it shows nothing that a mask hides."""
        return cls(sys.stdout, environ, mask=mask)

    def line(self, text: str = "", tone: Tone = Tone.PLAIN) -> None:
        """Put a text as it stands; it may have several lines."""
        text = self._mask.known(text)
        if self._rich is None or not self._colour or tone is Tone.PLAIN:
            self._stream.write(visible(text) + "\n")
            return
        from rich.text import Text

        self._rich.print(Text(visible(text), STYLES[tone]), soft_wrap=True)

    def facts(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Put names and what they stand for under each other, leaving empty ones out."""
        said = [(name, text) for name, text in pairs if text]
        width = max((len(name) for name, _ in said), default=0)
        for name, text in said:
            self.line(f"{name:<{width}}{_GAP}{one_line(text, _CELL_LIMIT)}")

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> None:
        """Put a table: aligned text, drawn by rich on a terminal."""
        known = self._mask.known
        safe = [[one_line(known(cell.text), _CELL_LIMIT) for cell in row] for row in rows]
        if self._rich is None:
            self._stream.write("".join(f"{line}\n" for line in _aligned(columns, safe)))
        else:
            self._draw(self._rich, columns, rows, safe)

    def markdown(self, text: str) -> None:
        """Put Markdown: drawn on a terminal, as it is written in a pipe."""
        safe = visible(self._mask.known(text.removesuffix("\n")))
        if self._rich is None:
            self._stream.write(f"{safe}\n")
            return
        from rich.markdown import Markdown

        # A link would hide where it leads to.
        self._rich.print(Markdown(safe, hyperlinks=False))

    def json(self, document: Any) -> None:
        """Put one JSON document; what a terminal would act on is escaped."""
        # Data is written exactly, also where the stream would show a character by another.
        exact = not is_utf8(self._stream.encoding)
        text = json.dumps(self._mask.data(document), ensure_ascii=exact, indent=2)
        self._stream.write(escaped(text) + "\n")

    def _draw(
        self,
        rich: Console,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Cell]],
        safe: Sequence[Sequence[str]],
    ) -> None:
        from rich.table import Table
        from rich.text import Text

        shown = [index for index, column in enumerate(columns) if rich.width >= column.wide]
        picked = [columns[index] for index in shown]
        widths = _widths(picked, [[row[index] for index in shown] for row in safe], rich.width)
        if widths is None:
            # Too narrow to draw without cutting a value to what could be another: it wraps.
            lines = _aligned(picked, [[row[index] for index in shown] for row in safe])
            self._stream.write("".join(f"{line}\n" for line in lines))
            return
        table = Table(box=None, pad_edge=False, padding=(0, len(_GAP), 0, 0), header_style="dim")
        for column, width in zip(picked, widths, strict=True):
            table.add_column(
                Text(column.title),
                justify="right" if column.right else "left",
                no_wrap=not column.folded,
                overflow="fold" if column.folded else "ellipsis",
                width=width,
            )
        for row, texts in zip(rows, safe, strict=True):
            table.add_row(*(Text(texts[index], STYLES[row[index].tone]) for index in shown))
        rich.print(table)

    def _open_rich(self) -> Console:
        from rich.console import Console

        return Console(
            file=self._stream,
            width=self._columns,
            force_terminal=True,
            color_system="auto" if self._colour else None,
            highlight=False,
            markup=False,
            emoji=False,
        )


def visible(text: str) -> str:
    """Make a text inert but for its tabs, which mean something in a diff and do no harm."""
    return "\t".join(inert(part) for part in text.split("\t"))


def escaped(document: str) -> str:
    """Escape what cannot be printed in a JSON text; its value stays the same."""
    if document.isprintable():
        return document
    return "".join(c if c.isprintable() or c == "\n" else _escape(c) for c in document)


def _escape(char: str) -> str:
    # JSON has no escape beyond four digits: what lies higher is written as a pair.
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # no stream at all, or a closed one
        return False


def _widest(index: int, rows: Sequence[Sequence[str]]) -> int:
    return max((len(row[index]) for row in rows), default=0)


def _widths(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int
) -> list[int] | None:
    """Share out a terminal's width, taking from the widest that may be cut; None if it fails."""
    from rich.cells import cell_len

    table = [[column.title for column in columns], *rows]
    widths = [max(cell_len(row[index]) for row in table) for index in range(len(columns))]
    over = sum(widths) + len(_GAP) * len(columns) - room
    elastic = [i for i, column in enumerate(columns) if not (column.whole or column.right)]
    while over > 0:
        widest = max(elastic, key=lambda index: widths[index], default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            return None
        widths[widest] -= 1
        over -= 1
    return widths


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[str]:
    titles = [column.title for column in columns]
    table = [titles, *rows]
    widths = [_widest(index, table) for index in range(len(columns))]
    return [
        _GAP.join(
            f"{text:>{width}}" if column.right else f"{text:<{width}}"
            for text, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in table
    ]

"""The brush: notes as coloured lines that fit a terminal. It draws on nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tilth.show.note import STYLES, Note, Tone

if TYPE_CHECKING:
    from rich.text import Text

LABEL = 10
NARROWEST = 16
_ROOMY = 50
_WRAPPED_LINES = 3


class Brush:
    """Turn notes into coloured lines that fit the terminal; the one user of rich."""

    def __init__(self, columns: Callable[[], int]) -> None:
        from io import StringIO

        from rich.console import Console as RichConsole

        self._columns = columns
        # It only looks styles up and measures: what it would print goes nowhere.
        self._rich = RichConsole(file=StringIO(), force_terminal=True, width=80, no_color=False)

    @property
    def columns(self) -> int:
        """Give the terminal's width as it is now."""
        return self._columns()

    @property
    def width(self) -> int:
        """Give the usable width; the last column is left free, where terminals wrap."""
        return max(NARROWEST, self._columns() - 1)

    def lines(self, note: Note) -> Iterator[str]:
        """Draw one note."""
        width = self.width
        roomy = width >= _ROOMY
        if note.opens:
            yield ""
        indent = 2 + LABEL if roomy and not note.opens else 2
        for number, line in enumerate(self._head(note, width, indent, roomy=roomy)):
            yield self.ansi(line if number == 0 else _indented(line, indent))
        style = "dim" if note.tone in (Tone.HEAD, Tone.QUIET, Tone.PLAIN) else ""
        for detail in note.details:
            for line in self._wrapped(self.text(detail, style), width - indent, uncut=note.uncut):
                yield self.ansi(_indented(line, indent))

    def _head(self, note: Note, width: int, indent: int, *, roomy: bool) -> Iterator[Text]:
        label = self._label(note, roomy=roomy)
        text = self.text(marked(note), STYLES[note.tone])
        if note.whole:
            yield label.append_text(text)
            return
        room = max(4, width - label.cell_len)
        if note.tone in (Tone.PLAIN, Tone.QUIET):
            _shorten(text, room)
            yield label.append_text(text)
            return
        first, *rest = self._wrapped(text, room)
        yield label.append_text(first)
        yield from rest

    def _label(self, note: Note, *, roomy: bool) -> Text:
        style = STYLES[note.tone] if note.tone is Tone.LOUD else "dim"
        if note.opens:
            return self.text(f"{note.label} ", style)
        if roomy:
            return self.text(f"  {note.label:<{LABEL}}", style)
        return self.text(f"  {note.label} " if note.label else "    ", style)

    def _wrapped(self, text: Text, width: int, *, uncut: bool = False) -> list[Text]:
        lines = list(text.wrap(self._rich, max(4, width), overflow="fold"))
        for line in lines:
            line.rstrip()
        if len(lines) > _WRAPPED_LINES and not uncut:
            lines = lines[:_WRAPPED_LINES]
            lines[-1].append(" …")
            _shorten(lines[-1], max(4, width))
        return lines

    def text(self, text: str, style: str) -> Text:
        from rich.text import Text

        # As a span: rich leaves the style of a text without spans to its printer.
        return Text(end="").append(text, style)

    def ansi(self, text: Text) -> str:
        from rich.color import ColorSystem

        return "".join(
            segment.style.render(segment.text, color_system=ColorSystem.STANDARD)
            if segment.style
            else segment.text
            for segment in text.render(self._rich)
        )


def _shorten(text: Text, room: int) -> None:
    """Cut a text to its room between two words; a word that fills half of it is cut too."""
    if text.cell_len <= room:
        return
    whole = text.plain
    text.truncate(room - 1, overflow="crop")
    kept = text.plain
    between = kept.rfind(" ")
    if whole[len(kept) : len(kept) + 1].strip() and between >= len(kept) // 2:
        text.right_crop(len(kept) - between)
    text.rstrip()
    text.append("…")


def _indented(line: Text, indent: int) -> Text:
    line.pad_left(indent)
    return line


def marked(note: Note) -> str:
    """Give a note's text with its mark."""
    return f"{note.mark} {note.text}" if note.mark else note.text

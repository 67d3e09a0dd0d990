"""Characters that are not seen, or that change how others are seen.

What counts is decided by a character's Unicode category and by the property that it draws nothing
(Default_Ignorable_Code_Point), not by a list of known tricks. Never judges a text. Pure.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_PLAIN = frozenset(" \t\n")
# Default_Ignorable_Code_Point, as far as the categories above do not hold it: joiners, fillers and
# variation selectors, with the places that are kept for more of them.
_IGNORED = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2065, 0x2065),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),
)
# Letters and symbols that are drawn as nothing: no property tells them.
_BLANK = frozenset("\u2800\U00013441\U00013442\U00016fe4\U0001d159")
# What scripts and emoji are written with stands after a character of theirs.
_JOINING = frozenset("\u200c\u200d\ufe0e\ufe0f")
_KEYCAP = "\u20e3"
_MARK = "\ufeff"


class Hidden(NamedTuple):
    """Hold one such character; one that honest prose is written with is not grave."""

    char: str
    is_grave: bool

    @property
    def name(self) -> str:
        return f"U+{ord(self.char):04X}"


def hidden_in(line: str, *, is_first: bool = False) -> tuple[Hidden, ...]:
    """Find the hidden characters of one line, each kind of them once.

    The first line of a file may begin with its mark.
    """
    line = line.removesuffix("\r")
    if line.isascii() and line.isprintable():
        return ()
    start = 1 if is_first and line.startswith(_MARK) else 0
    kinds = filter(is_hidden, dict.fromkeys(line[start:]))
    return tuple(each for char in kinds for each in _ways(line, char, start))


def _ways(line: str, char: str, start: int) -> Iterator[Hidden]:
    """Tell how a character stands in a line: as honest text has it, otherwise, or both."""
    at = line.index(char, start)
    if char not in _JOINING:
        # Where it stands makes no difference.
        yield Hidden(char, is_grave=not _is_usual(line, at))
        return
    places = (place for place in range(at, len(line)) if line[place] == char)
    for is_usual in dict.fromkeys(_is_usual(line, place) for place in places):
        yield Hidden(char, is_grave=not is_usual)


def escaped(text: str) -> str:
    """Write every hidden character of a text as its number; line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if is_hidden(char) else char for char in text)


def escaped_line(text: str) -> str:
    """Write a name or a note in one line: its line ends and tabs become numbers too."""
    return "".join(_escape(char) if char in "\t\n" else char for char in escaped(text))


@cache
def is_hidden(char: str) -> bool:
    """Tell whether nothing, or only a blank, is seen of a character."""
    if char in _PLAIN:
        return False
    if unicodedata.category(char) in _UNSEEN or char in _BLANK:
        return True
    return any(first <= ord(char) <= last for first, last in _IGNORED)


def _is_usual(line: str, at: int) -> bool:
    """Tell whether honest text has the character where it stands."""
    char, before = line[at], line[at - 1 : at]
    if char == "\f" or unicodedata.category(char) == "Zs":
        return True
    if char not in _JOINING or not before:
        return False
    return line[at + 1 : at + 2] == _KEYCAP or not (before.isascii() or is_hidden(before))


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

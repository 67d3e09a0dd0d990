"""Characters that are not seen or are read as others, and how a text stands without them.

What counts is decided by what Unicode says of a character (its category, that it draws nothing,
its script, what it is compatible with), not by a list of known tricks. Never judges a text. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby

# Of a line: what is longer goes on below, after a sign that no line of a diff begins with.
LONGEST_LINE = 240
GOES_ON = "\n↪ "
_MOST_BLANKS = 120

_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lo"})
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
_NOT_PLAIN = re.compile(rf"[^\t\n -~]|[ \t]{{16}}|^[^\n]{{{LONGEST_LINE + 1}}}", re.MULTILINE)
# No part of the word that follows it in a text.
_ESCAPES = re.compile(r"(\\.)")
_BLANKS = re.compile(r"[ \t]{16,}")


def in_plain_sight(text: str) -> str:
    """Write a text so that nothing in it is hidden or far away, and its lines stay its lines.

    A return that ends a line stays, long runs of blanks are counted and long lines wrapped.
    """
    if _NOT_PLAIN.search(text) is None:
        return text
    return "\n".join(map(_plain_line, text.split("\n")))


def escaped(text: str) -> str:
    """Write what is hidden in a text, or reads as something else, as its number."""
    if text.isascii() and text.isprintable():
        return text
    runs = (run for piece in _ESCAPES.split(text) for _, run in groupby(piece, _is_of_a_name))
    return "".join(map(_escaped_part, map("".join, runs)))


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


def _plain_line(line: str) -> str:
    end = "\r" if line.endswith("\r") else ""
    line = _BLANKS.sub(_counted, escaped(line.removesuffix("\r")))
    starts = range(0, len(line), LONGEST_LINE)
    return GOES_ON.join(line[start : start + LONGEST_LINE] for start in starts) + end


def _counted(run: re.Match[str]) -> str:
    width = len(run[0].expandtabs())
    return run[0] if width <= _MOST_BLANKS else f"[… {width} blanks …]"


def _escaped_part(part: str) -> str:
    """Escape a part of a line that is one name, or holds none."""
    if part.isascii() and part.isprintable():
        return part
    scripts = {script for char in part if (script := _script(char))}
    other = scripts - {"LATIN"} if len(scripts) > 1 else ()
    return "".join(
        _escape(char) if is_hidden(char) or _is_variant(char) or _script(char) in other else char
        for char in part
    )


@cache
def _is_of_a_name(char: str) -> bool:
    return f"a{char}".isidentifier()


@cache
def _is_variant(char: str) -> bool:
    """Tell whether Python takes a character of a name for another one that is plain or plainer."""
    if char.isascii() or not _is_of_a_name(char):
        return False
    same = unicodedata.normalize("NFKC", char)
    is_styled = unicodedata.decomposition(char).startswith("<font>")
    return is_styled or any(each.isascii() for each in same)


@cache
def _script(char: str) -> str:
    """Name the script of a letter; wide letters and signs are taken for none of another one."""
    if unicodedata.category(char) not in _LETTERS:
        return ""
    if unicodedata.east_asian_width(char) in "WFH":
        return ""
    name = unicodedata.name(char, "")
    return "" if "SIGN" in name else name.partition(" ")[0]


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

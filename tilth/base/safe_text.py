"""Inert text: any text at all, made safe to show to a person.

What a terminal would act on (control characters, escape sequences, direction overrides) and what
cannot be written (lone surrogates) becomes visible instead. What is cut is cut between two words,
and what is kept is kept as it was. Never interprets markup, never raises.
"""

from __future__ import annotations

import re

from tilth.base.hidden_characters import is_hidden

ELLIPSIS = "…"

# A short line is cut out of at most this many times its length, so that a huge text costs little.
_LOOK_AHEAD = 16
_BREAK = re.compile(r"\s*\n\s*")


def is_blank(text: str) -> bool:
    """Tell whether there is nothing to see in a text: only spaces, or what has no width either."""
    return all(char.isspace() or is_hidden(char) for char in text)


def inert(text: str) -> str:
    """Make a text safe to show; its line breaks stay, all else that acts is made visible."""
    if text.isprintable():
        return text
    return "".join(map(_visible, text.replace("\r\n", "\n")))


def folded(text: str) -> str:
    """Fold a text to one line, so that it cannot pose as structure; what acts stays in it."""
    return " ".join(text.split())


def one_line(text: str, limit: int = 200) -> str:
    """Make a text safe and fold it into one line of at most `limit` characters."""
    head = text[: limit * _LOOK_AHEAD]
    line = _BREAK.sub(" ", inert(head).strip())
    return shortened(line, limit, cut=len(head) < len(text))


def first_lines(text: str, count: int, limit: int = 200) -> tuple[str, ...]:
    """Give the first lines that say something, each made safe and short."""
    return _lines(text, limit)[:count]


def last_lines(text: str, count: int, limit: int = 200) -> tuple[str, ...]:
    """Give the last lines that say something, each made safe and short."""
    return _lines(text, limit)[-count:] if count else ()


def shortened(line: str, limit: int, *, cut: bool = False) -> str:
    """Cut a line to its limit between two words; a word that fills half of it is cut too."""
    if len(line) <= limit and not cut:
        return line
    room = max(0, limit - 1)
    head = line[:room]
    if line[room : room + 1].strip():
        between = head.rfind(" ")
        head = head[:between] if between >= room // 2 else head
    return head.rstrip() + ELLIPSIS


def _lines(text: str, limit: int) -> tuple[str, ...]:
    lines = (line.rstrip() for line in text.splitlines())
    # Indentation carries meaning in code and tracebacks, so it is kept.
    return tuple(
        shortened(inert(line[: limit + 1]).replace("\n", " "), limit) for line in lines if line
    )


def _visible(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    code = ord(char)
    if char == "\t" or (char.isspace() and code > 0x9F and code not in (0x2028, 0x2029)):
        return " "
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"

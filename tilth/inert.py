"""Inert text: any text at all, made safe to show to a person.

What a terminal would act on (control characters, escape sequences, direction overrides) and what
cannot be written (lone surrogates) becomes visible instead. Never interprets markup, never raises.
"""

from __future__ import annotations

ELLIPSIS = "…"

# A short line is cut out of at most this many times its length, so that a huge text costs little.
_LOOK_AHEAD = 16


def inert(text: str) -> str:
    """Make a text safe to show; its line breaks stay, all else that acts is made visible."""
    if text.isprintable():
        return text
    return "".join(map(_visible, text.replace("\r\n", "\n")))


def one_line(text: str, limit: int = 200) -> str:
    """Make a text safe and fold it into one line of at most `limit` characters."""
    head = text[: limit * _LOOK_AHEAD]
    line = " ".join(inert(head).split())
    return _shortened(line, limit, cut=len(head) < len(text))


def first_lines(text: str, count: int, limit: int = 200) -> tuple[str, ...]:
    """Give the first lines that say something, each made safe and short."""
    return _lines(text, limit)[:count]


def last_lines(text: str, count: int, limit: int = 200) -> tuple[str, ...]:
    """Give the last lines that say something, each made safe and short."""
    return _lines(text, limit)[-count:] if count else ()


def _lines(text: str, limit: int) -> tuple[str, ...]:
    lines = (line.rstrip() for line in text.splitlines())
    # Indentation carries meaning in code and tracebacks, so it is kept.
    return tuple(
        _shortened(inert(line[: limit + 1]).replace("\n", " "), limit, cut=False)
        for line in lines
        if line
    )


def _shortened(line: str, limit: int, *, cut: bool) -> str:
    if len(line) <= limit and not cut:
        return line
    return line[: max(0, limit - 1)].rstrip() + ELLIPSIS


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

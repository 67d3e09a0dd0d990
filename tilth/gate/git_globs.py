"""Globs as git reads them in its files of attributes: classes, escapes, and `**` between slashes.

Git compares bytes, so patterns and paths are texts here that have one character a byte. Pure.
"""

from __future__ import annotations

import re
import string

from tilth.gate.globs import ANY_IN_NAME, DEEP, DIRS, STAR, Glob, Kind, Piece, literal

_WILD = re.compile(r"[*?\[\\]")
_STARS = re.compile(r"\*+")
_PRINTED = frozenset(map(chr, range(0x20, 0x7F)))
_NAMED = {
    "alnum": frozenset(string.ascii_letters + string.digits),
    "alpha": frozenset(string.ascii_letters),
    "blank": frozenset(" \t"),
    "cntrl": frozenset(map(chr, range(0x20))) | {"\x7f"},
    "digit": frozenset(string.digits),
    "graph": _PRINTED - {" "},
    "lower": frozenset(string.ascii_lowercase),
    "print": _PRINTED,
    "punct": frozenset(string.punctuation),
    "space": frozenset(" \t\n\r"),
    "upper": frozenset(string.ascii_uppercase),
    "xdigit": frozenset(string.hexdigits),
}


class Malformed(ValueError):
    """Say that a pattern fits nothing."""


def as_bytes(text: str) -> str:
    """Give a text with one character for each byte that git sees."""
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def git_glob(pattern: str) -> Glob:
    """Read the pattern of a line, without a slash at its beginning; `Malformed` fits nothing."""
    return Glob(_Reading(pattern).pieces())


class _Reading:
    """Read one pattern from its beginning to its end."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        # Git compares what stands before the first wild character by itself, and reads on as
        # though the pattern began there.
        wild = _WILD.search(pattern)
        self._begin = wild.start() if wild else 0

    def pieces(self) -> list[Piece]:
        found: list[Piece] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "*":
                found.append(self._star())
            elif character == "[":
                self._at += 1
                found.append(self._class())
            else:
                found.append(ANY_IN_NAME if character == "?" else literal(self._next()))
                self._at += 1
        return found

    def _next(self) -> str:
        """Give the character at hand, or the one that a backslash stands before."""
        if self._text[self._at : self._at + 1] == "\\":
            self._at += 1
        if self._at >= len(self._text):
            raise Malformed
        return self._text[self._at]

    def _star(self) -> Piece:
        first = self._at
        stars = _STARS.match(self._text, first)
        self._at = stars.end() if stars else first + 1
        after = self._text[self._at : self._at + 2]
        is_first = first <= self._begin or self._text[first - 1] == "/"
        if self._at - first < 2 or not is_first or not (after in ("", "\\/") or after[0] == "/"):
            return STAR
        if after[:1] != "/":
            return DEEP
        self._at += 1
        return DIRS

    def _class(self) -> Piece:
        negated = self._text[self._at : self._at + 1] in ("!", "^")
        self._at += negated
        held: set[str] = set()
        before, is_first = "", True
        while is_first or self._text[self._at : self._at + 1] != "]":
            before = self._member(held, before)
            self._at += 1
            is_first = False
        self._at += 1
        if negated:
            return Piece(Kind.NONE_OF, frozenset(held | {"/"}))
        return Piece(Kind.ONE_OF, frozenset(held - {"/"}))

    def _member(self, held: set[str], before: str) -> str:
        """Add a character, a range or a named class; give what a range may begin with."""
        text, at = self._text, self._at
        if text[at : at + 1] == "-" and before and text[at + 1 : at + 2] not in ("", "]"):
            self._at += 1
            last = self._next()
            held.update(map(chr, range(ord(before), ord(last) + 1)))
            return ""
        if text.startswith("[:", at):
            end = text.find("]", at + 2)
            if end < 0:
                raise Malformed
            if end > at + 2 and text[end - 1] == ":":
                if text[at + 2 : end - 1] not in _NAMED:
                    raise Malformed
                held |= _NAMED[text[at + 2 : end - 1]]
                self._at = end
                return ""
        character = self._next()
        held.add(character)
        return character

"""The lines of an attribute file as git reads them: patterns, macros, and what they set.

Git passes over a line that begins with `!` and one with a malformed name, and so is it done here:
a line that counts here alone could hide what git does. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from tilth.gate.git_globs import Malformed, as_bytes, git_glob
from tilth.gate.globs import Glob
from tilth.git.changes import path_in_diff

Setting = bool | str | None
Words = list[tuple[str, Setting]]

# Git passes over a line as long as this, some versions of it do not.
LONGEST_LINE = 2048
_MACRO = "[attr]"
_BLANKS = re.compile(r"[ \t\r]+")
_QUOTED = re.compile(r'"(?:[^"\\]|\\[abfnrtv"\\]|\\[0-3][0-7][0-7])*"')
_NAME = re.compile(r"[A-Za-z0-9_.][-A-Za-z0-9_.]*")


class Rule(NamedTuple):
    """Hold what one line sets, and the paths it is for."""

    glob: Glob
    by_name: bool
    words: Words


class Line(NamedTuple):
    """Hold a line's pattern, or `[attr]` and the name of a macro, and what it sets."""

    pattern: str
    words: Words


def is_readable(text: str) -> bool:
    """Tell whether every version of git reads a text alike."""
    return "\0" not in text and all(len(line) < LONGEST_LINE for line in as_bytes(text).split("\n"))


def lines_of(text: str) -> Iterator[Line]:
    """Read the lines that git takes for any."""
    for line in as_bytes(text.removeprefix("\ufeff")).split("\n"):
        line = line.strip(" \t\r")
        if not line or line.startswith("#"):
            continue
        quoted = _QUOTED.match(line)
        end = quoted.end() if quoted else len(_BLANKS.split(line, maxsplit=1)[0])
        words = [_word(word) for word in _BLANKS.split(line[end:]) if word]
        if all(_NAME.fullmatch(name) for name, _ in words):
            yield Line(path_in_diff(line[:end]) if quoted else line[:end], words)


def macros_of(text: str) -> dict[str, Words]:
    """Give the macros that a text defines; the last of a name counts."""
    found = ((line.pattern.removeprefix(_MACRO), line) for line in lines_of(text))
    return {name: line.words for name, line in found if _is_macro(line) and _NAME.fullmatch(name)}


def rules_of(text: str, looked_at: Container[str]) -> Iterator[Rule]:
    """Give the rules of a text that set something which is looked at."""
    for line in lines_of(text):
        words = [word for word in line.words if word[0] in looked_at]
        # A pattern with a slash at its end is for directories, which have no attributes.
        if not words or _is_macro(line) or line.pattern.startswith("!") or line.pattern[-1:] == "/":
            continue
        try:
            glob = git_glob(line.pattern.removeprefix("/"))
        except Malformed:
            continue
        yield Rule(glob, "/" not in line.pattern, words)


def _is_macro(line: Line) -> bool:
    return line.pattern.startswith(_MACRO) and line.pattern != _MACRO


def _word(word: str) -> tuple[str, Setting]:
    name, given, value = word.partition("=")
    if name.startswith(("-", "!")):
        return name[1:], False if name.startswith("-") else None
    return name, value if given else True

"""Globs: paths matched in one pass, whatever the pattern.

A pattern may come from a file that the worker wrote, and it is matched outside of the sandbox. So
all places in it are followed at once, one bit each: the time grows with the path alone. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(r"\*\*/|\*\*|.", re.DOTALL)


class Kind(Enum):
    """Say what a piece of a glob stands for."""

    ONE_OF = auto()
    NONE_OF = auto()
    STAR = auto()  # any number of characters of one name
    DEEP = auto()  # any number of characters, slashes too
    DIRS = auto()  # nothing, or anything that ends with a slash


_REPEATED = frozenset({Kind.STAR, Kind.DEEP, Kind.DIRS})


class Piece(NamedTuple):
    """Hold one piece of a glob."""

    kind: Kind
    characters: frozenset[str] = frozenset()


ANY_IN_NAME = Piece(Kind.NONE_OF, frozenset("/"))
STAR, DEEP, DIRS = Piece(Kind.STAR), Piece(Kind.DEEP), Piece(Kind.DIRS)


def literal(character: str) -> Piece:
    """Give the piece that stands for one character."""
    return Piece(Kind.ONE_OF, frozenset(character))


class Glob:
    """Hold a pattern by which paths are matched without ever going back."""

    __slots__ = ("_begins", "_but", "_deep", "_end", "_ends", "_enters", "_many", "_only", "_skips")

    def __init__(self, pieces: Iterable[Piece]) -> None:
        merged = _merged(pieces)
        self._begins = _plain(merged)
        self._ends = _plain(merged[::-1])[::-1]
        # By character: the places it leads on from, and those it alone does not.
        self._only: defaultdict[str, int] = defaultdict(int)
        self._but: defaultdict[str, int] = defaultdict(int)
        # The places that take many characters, any at all, none, or a way around.
        self._many = self._deep = self._skips = self._enters = 0
        self._end = 1
        for piece in merged:
            self._add(piece)

    def may_fit(self, path: str) -> bool:
        """Tell by both ends of a path, at next to no cost, whether matching it is worth while."""
        return path.startswith(self._begins) and path.endswith(self._ends)

    def fits(self, path: str) -> bool:
        """Tell whether the pattern stands for the whole path."""
        if not self.may_fit(path):
            return False
        reached, many, only, but = self._opened(1), self._many, self._only, self._but
        others = but[""]
        for character in path:
            taken = only.get(character, 0) | others & ~but.get(character, 0)
            stays = self._deep if character == "/" else many
            reached = self._opened((reached & taken) << 1 | reached & stays)
            if not reached:
                return False
        return bool(reached & self._end)

    def _add(self, piece: Piece) -> None:
        """Add the place of one piece; a character that leads on moves its bit up by one."""
        if piece.kind is Kind.DIRS:
            # Around it, or into the place behind, which only a slash leads out of.
            self._enters |= self._end
            self._skips |= self._end
            self._end <<= 1
            self._only["/"] |= self._end
        elif piece.kind in _REPEATED:
            self._skips |= self._end
        if piece.kind in _REPEATED:
            self._many |= self._end
            self._deep |= 0 if piece.kind is Kind.STAR else self._end
        by = self._only if piece.kind is Kind.ONE_OF else self._but
        for character in piece.characters:
            by[character] |= self._end
        if piece.kind is Kind.NONE_OF:
            self._but[""] |= self._end
        self._end <<= 1

    def _opened(self, reached: int) -> int:
        """Add the places that are reached without a character."""
        while reached & self._skips:
            more = (reached & self._skips) << 1 | (reached & self._enters) << 2
            if reached | more == reached:
                break
            reached |= more
        return reached


@lru_cache(maxsize=256)
def plan_glob(text: str) -> Glob:
    """Read a glob of a plan: one without a slash fits at any depth."""
    text = text.removeprefix("./")
    anywhere = () if "/" in text.rstrip("/") else (DIRS,)
    meaning = {"**/": DIRS, "**": DEEP, "*": STAR, "?": ANY_IN_NAME}
    tokens = _TOKEN.findall(text.lstrip("/"))
    return Glob((*anywhere, *(meaning.get(token) or literal(token) for token in tokens)))


def _merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Make one of neighbours that say the same, so that no row of them has to be walked."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and {last.kind, piece.kind} <= _REPEATED:
            if DEEP in (last, piece):
                merged[-1] = DEEP
                continue
            if last == piece:
                continue
        merged.append(piece)
    return merged


def _plain(pieces: Sequence[Piece]) -> str:
    """Give the characters that must stand first."""
    text = ""
    for piece in pieces:
        if piece.kind is not Kind.ONE_OF or len(piece.characters) != 1:
            break
        text += next(iter(piece.characters))
    return text

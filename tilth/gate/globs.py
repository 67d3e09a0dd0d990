"""Globs of a plan, matched in one pass whatever the pattern.

A path may be the worker's, and it is matched outside of the sandbox. So all places of a path that
the pattern may have come to are kept at once, one bit each, and nothing is tried again. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache

_PIECE = re.compile(r"\*\*/|\*\*|.", re.DOTALL)


def fits(glob: str, path: str) -> bool:
    """Tell whether a glob stands for a whole path; one without a slash fits at any depth."""
    where: defaultdict[str, int] = defaultdict(int)
    for at, character in enumerate(path):
        where[character] |= 1 << at
    end = 1 << len(path)
    in_name = (end - 1) & ~where["/"]
    reached = 1
    for piece in _pieces(glob):
        onwards = -(reached & -reached)  # all bits from the lowest one on
        if piece == "*":
            # The sum carries each place to the end of the name it stands in.
            reached |= ((reached & in_name) + in_name) ^ in_name
        elif piece == "**":
            reached = onwards & (2 * end - 1)
        elif piece == "**/":
            reached |= (where["/"] & onwards) << 1
        else:
            reached = (reached & (in_name if piece == "?" else where[piece])) << 1
    return bool(reached & end)


@lru_cache(maxsize=256)
def _pieces(glob: str) -> tuple[str, ...]:
    text = glob.removeprefix("./")
    anywhere = () if "/" in text.rstrip("/") else ("**/",)
    return (*anywhere, *_PIECE.findall(text.lstrip("/")))

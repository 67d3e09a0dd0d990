"""One exact replacement in the bytes of a file.

Everything outside the replaced text stays byte for byte as it was: line endings, BOM, bytes that
are no UTF-8. Pure: no file is read or written here. Texts are found by `bytes.find`, which is
linear whatever they are; a crafted file can keep a regular expression busy for hours.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from tilth.base.errors import ToolError
from tilth.base.safe_text import folded

_ENDING = re.compile(rb"\r?\n")
# A file with both kinds of endings is pieced together place by place.
_MOST_MIXED = 2_000
_LARGEST_RESULT = 32 * 1024 * 1024
# Beyond this a hint would cost more than it helps.
_LARGEST_HINTED = 1024 * 1024


@dataclass(frozen=True)
class Edit:
    """Hold the new bytes, how often the text was replaced, and the line of the first place."""

    data: bytes
    count: int
    line: int


def replaced(data: bytes, old: str, new: str, *, replace_all: bool) -> Edit:
    """Replace `old` by `new`; ToolError unless it stands there once, or all were asked for.

    A line feed in `old` also matches CRLF, since that is how the text is shown to a model; the
    replacement then takes the line endings of the place where it goes.
    """
    _check(old, new)
    exact, crlf = old.encode(), data.count(b"\r\n")
    plain = old.replace("\r\n", "\n").encode()
    # Who writes a carriage return means bytes, if they are there.
    if not crlf or (b"\r" in exact and exact in data):
        needle = exact if b"\r" in exact and exact in data else plain
        return _uniform(data, needle, new.encode(), old, replace_all=replace_all)
    if crlf == data.count(b"\n"):
        text = new.replace("\r\n", "\n").replace("\n", "\r\n").encode()
        needle = plain.replace(b"\n", b"\r\n")
        return _uniform(data, needle, text, old, replace_all=replace_all)
    return _mixed(data, plain, old, new, replace_all=replace_all)


def _uniform(data: bytes, needle: bytes, text: bytes, old: str, *, replace_all: bool) -> Edit:
    """Replace where every place gets the same bytes."""
    first, count = _find(data, data, needle, old, replace_all=replace_all)
    _check_size(len(data) + count * (len(text) - len(needle)))
    return Edit(data.replace(needle, text), count, data.count(b"\n", 0, first) + 1)


def _mixed(data: bytes, needle: bytes, old: str, new: str, *, replace_all: bool) -> Edit:
    """Replace in a file with both kinds of endings, each place with its own."""
    flat = data.replace(b"\r\n", b"\n")
    first, count = _find(data, flat, needle, old, replace_all=replace_all)
    if count > _MOST_MIXED:
        raise ToolError(f"old_string occurs {count} times between mixed line endings: use bash")
    _check_size(len(data) + count * len(new.encode()))
    # Where a carriage return was left out: what stands behind it stands so much later in the file.
    gone = array("Q", (m.start() - k for k, m in enumerate(re.finditer(rb"\r\n", data))))
    pieces: list[bytes] = []
    end = 0
    for place in _places(flat, needle):
        start = place + bisect_left(gone, place)
        pieces.append(data[end:start])
        end = place + len(needle)
        end += bisect_left(gone, end)
        pieces.append(_fitted(data, start, end, old, new))
    whole = b"".join((*pieces, data[end:]))
    return Edit(whole, count, flat.count(b"\n", 0, first) + 1)


def _find(
    data: bytes, text: bytes, needle: bytes, old: str, *, replace_all: bool
) -> tuple[int, int]:
    """Give the first place and how many there are, or say why that is not what was meant."""
    first = text.find(needle)
    if first < 0:
        raise ToolError(_not_found(data, old))
    if not replace_all and text.find(needle, first + 1) >= 0:
        raise ToolError(_not_unique(text, needle))
    return first, text.count(needle)


def _places(text: bytes, needle: bytes) -> Iterator[int]:
    place = text.find(needle)
    while place >= 0:
        yield place
        place = text.find(needle, place + len(needle))


def _check_size(size: int) -> None:
    if size > _LARGEST_RESULT:
        raise ToolError(f"the file would have {size} bytes afterwards: use bash")


def _check(old: str, new: str) -> None:
    if not old:
        raise ToolError("old_string is empty: give the text to replace, or use write_file")
    if old == new:
        raise ToolError("old_string and new_string are the same: nothing to change")


def _fitted(data: bytes, begin: int, end: int, old: str, new: str) -> bytes:
    """Give the replacement the line endings that its lines had, or else those around it."""
    endings = _ENDING.findall(data, begin, end)
    before = old.replace("\r\n", "\n").split("\n")
    after = new.split("\n")
    start, stop = _common(before, after)
    usual = endings[0] if endings else _ending_near(data, begin, end)
    pieces: list[bytes] = []
    for index, line in enumerate(after[:-1]):
        from_end = len(after) - index
        if from_end <= stop:
            ending = endings[len(before) - from_end]
        elif index < start or (len(before) == len(after) and index < len(endings)):
            ending = endings[index]
        else:
            ending = usual
        # An explicit CRLF in the new text stays one CRLF.
        pieces += (line.removesuffix("\r").encode(), b"\r\n" if line.endswith("\r") else ending)
    return b"".join((*pieces, after[-1].encode()))


def _common(before: list[str], after: list[str]) -> tuple[int, int]:
    """Count the equal lines at the start and at the end, whose endings are not to change."""
    most = min(len(before), len(after)) - 1
    start = 0
    while start < most and before[start] == after[start]:
        start += 1
    stop = 0
    while stop < most - start and before[-1 - stop] == after[-1 - stop]:
        stop += 1
    return start, stop


def _ending_near(data: bytes, begin: int, end: int) -> bytes:
    """Find the ending of the line the text stands on, or of the one before."""
    following = data.find(b"\n", end)
    at = following if following >= 0 else data.rfind(b"\n", 0, begin)
    # What was replaced is no part of the ending that follows it.
    first = end if following >= 0 else 0
    return b"\r\n" if at > first and data[at - 1 : at] == b"\r" else b"\n"


def _not_unique(text: bytes, needle: bytes) -> str:
    count = text.count(needle)
    lines = [text.count(b"\n", 0, place) + 1 for place in islice(_places(text, needle), 10)]
    if count == 1:
        return f"old_string overlaps itself at line {lines[0]}: give more context"
    places = ", ".join(map(str, lines)) + (", …" if count > 10 else "")
    return (
        f"old_string occurs {count} times (lines {places}): "
        "give more context to make it unique, or set replace_all"
    )


def _not_found(data: bytes, old: str) -> str:
    hint = "read the file again and copy the text exactly"
    wanted = [folded(line) for line in old.strip("\r\n").split("\n")]
    if len(data) <= _LARGEST_HINTED and any(wanted):
        lines = [folded(line) for line in data.decode("utf-8", "replace").split("\n")]
        joined = "\n".join(["", *lines, ""])
        at = joined.find("\n".join(["", *wanted, ""]))
        if at >= 0:
            return _differs_in_space(data, joined.count("\n", 0, at), len(wanted))
        if wanted[0] in lines:
            line = lines.index(wanted[0]) + 1
            hint = f"its first line stands at line {line}, but what follows differs: {hint}"
    return f"old_string was not found: {hint}"


def _differs_in_space(data: bytes, index: int, size: int) -> str:
    found = data.decode("utf-8", "replace").split("\n")[index : index + size]
    text = repr("\n".join(line.removesuffix("\r") for line in found)[:500])
    return (
        f"old_string was not found, but line {index + 1} differs only in white space: "
        f"the file has {text}"
    )

"""One exact replacement in the bytes of a file.

Everything outside the replaced text stays byte for byte as it was: line endings, BOM, bytes that
are no UTF-8. Pure: no file is read or written here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tilth.errors import ToolError

_ENDING = re.compile(rb"\r?\n")


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
    pattern, is_verbatim = _pattern(data, old)
    matches = list(pattern.finditer(data))
    if not matches:
        raise ToolError(_not_found(data, old))
    first = matches[0]
    if not replace_all and _occurs_again(data, pattern, first):
        raise ToolError(_not_unique(data, pattern))
    pieces: list[bytes] = []
    end = 0
    for match in matches:
        text = new.encode() if is_verbatim else _fitted(data, match, old, new)
        pieces += (data[end : match.start()], text)
        end = match.end()
    return Edit(
        data=b"".join((*pieces, data[end:])),
        count=len(matches),
        line=data.count(b"\n", 0, first.start()) + 1,
    )


def _check(old: str, new: str) -> None:
    if not old:
        raise ToolError("old_string is empty: give the text to replace, or use write_file")
    if old == new:
        raise ToolError("old_string and new_string are the same: nothing to change")


def _pattern(data: bytes, old: str) -> tuple[re.Pattern[bytes], bool]:
    """Choose how to find `old`, and whether its replacement goes in verbatim."""
    exact = old.encode()
    # Who writes a carriage return means bytes, if they are there.
    if b"\r" in exact and exact in data:
        return re.compile(re.escape(exact)), True
    lines = old.replace("\r\n", "\n").split("\n")
    return re.compile(_ENDING.pattern.join(re.escape(line.encode()) for line in lines)), False


def _occurs_again(data: bytes, pattern: re.Pattern[bytes], first: re.Match[bytes]) -> bool:
    again = pattern.search(data, first.start() + 1)
    if again and again.end() == first.end():  # the same place, seen past its carriage return
        again = pattern.search(data, again.start() + 1)
    return again is not None


def _fitted(data: bytes, match: re.Match[bytes], old: str, new: str) -> bytes:
    """Give the replacement the line endings that its lines had, or else those around it."""
    endings = _ENDING.findall(match[0])
    before = old.replace("\r\n", "\n").split("\n")
    after = new.split("\n")
    start, stop = _common(before, after)
    usual = endings[0] if endings else _ending_near(data, match)
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


def _ending_near(data: bytes, match: re.Match[bytes]) -> bytes:
    """Find the ending of the line the text stands on, or of the one before."""
    following = _ENDING.search(data, match.end())
    if following:
        return following[0]
    at = data.rfind(b"\n", 0, match.start())
    return b"\r\n" if at > 0 and data[at - 1 : at] == b"\r" else b"\n"


def _not_unique(data: bytes, pattern: re.Pattern[bytes]) -> str:
    lines = [data.count(b"\n", 0, match.start()) + 1 for match in pattern.finditer(data)]
    if len(lines) == 1:
        return f"old_string overlaps itself at line {lines[0]}: give more context"
    places = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
    return (
        f"old_string occurs {len(lines)} times (lines {places}): "
        "give more context to make it unique, or set replace_all"
    )


def _not_found(data: bytes, old: str) -> str:
    lines = [_squeezed(line) for line in data.decode("utf-8", "replace").split("\n")]
    wanted = [_squeezed(line) for line in old.strip("\r\n").split("\n")]
    size = len(wanted)
    for index in range(len(lines) - size + 1 if any(wanted) else 0):
        if lines[index : index + size] == wanted:
            return _differs_in_space(data, index, size)
    hint = "read the file again and copy the text exactly"
    if any(wanted) and wanted[0] in lines:
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


def _squeezed(line: str) -> str:
    return " ".join(line.split())

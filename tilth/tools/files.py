"""The file tools: read_file, write_file and edit_file, inside one worktree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pydantic import Field

from tilth.base.errors import ToolError
from tilth.base.values import Value
from tilth.task.tool_outcome import ToolOutcome
from tilth.tools.edits import replaced
from tilth.tools.lint import Linter
from tilth.tools.paths import Enclosure, encoded, shown

DEFAULT_LINES = 2000
MAX_LINE_CHARS = 2000
MAX_READ_CHARS = 60_000
MAX_EDIT_BYTES = 8 * 1024 * 1024

_SNIFF_BYTES = 8192
_CHUNK_BYTES = 1024 * 1024
_LITERAL = (
    "\nIt is one single line: its line breaks came as the two characters \\ and n. Write the file "
    "again with real line breaks."
)
_PATH = "Relative to the worktree root."
_BOM = b"\xef\xbb\xbf"

READ_FILE = (
    f"Read a text file without line numbers: at most {DEFAULT_LINES} lines and "
    f"{MAX_READ_CHARS // 1000} KB, lines cut at {MAX_LINE_CHARS} characters. Says how to read on."
)
WRITE_FILE = (
    "Write a whole text file: a new one, with its directories, or in the place of what was there. "
    "For a small change use edit_file."
)
EDIT_FILE = (
    "Replace one exact piece of text in a file. `old_string` must match exactly, white space "
    "included, and occur once, unless `replace_all` is true."
)


class ReadArguments(Value):
    """Name a file and the lines wanted of it."""

    path: str = Field(description=_PATH)
    offset: int | None = Field(None, ge=1, description="First line, from 1.")
    limit: int | None = Field(None, ge=1)


class WriteArguments(Value):
    """Name a file and give all of its text."""

    path: str = Field(description=_PATH)
    content: str = Field(description="The whole text.")


class EditArguments(Value):
    """Name a file, the text to replace in it, and what goes there."""

    path: str = Field(description=_PATH)
    old_string: str
    new_string: str
    replace_all: bool = False


class FileTools:
    """Read and change the files of one worktree."""

    def __init__(self, enclosure: Enclosure, linter: Linter | None) -> None:
        self._enclosure = enclosure
        self._linter = linter

    def read(self, arguments: ReadArguments) -> ToolOutcome:
        parts = self._enclosure.parts(arguments.path)
        with (
            self._enclosure.file(parts) as descriptor,
            open(descriptor, "rb", closefd=False) as file,
        ):
            size = os.fstat(descriptor).st_size
            _check_text_file(file, arguments.path, size)
            if not file.read(1):
                return ToolOutcome(content=f"({shown(arguments.path)} is empty)")
            file.seek(0)
            content = _window(file, arguments.offset or 1, arguments.limit or DEFAULT_LINES)
        return ToolOutcome(content=content)

    def write(self, arguments: WriteArguments) -> ToolOutcome:
        parts = self._enclosure.parts(arguments.path)
        is_new = self._enclosure.replace(parts, encoded(arguments.content, "content"))
        done = "created" if is_new else "replaced"
        lines = arguments.content.count("\n") + (not arguments.content.endswith("\n"))
        count = lines if arguments.content else 0
        note = _LITERAL if _is_one_line_of_many(arguments.content) else ""
        said = f"{done} {shown('/'.join(parts))} ({_plural(count, 'line')}){note}"
        return self._checked(parts, said)

    def edit(self, arguments: EditArguments) -> ToolOutcome:
        parts = self._enclosure.parts(arguments.path)
        encoded(arguments.old_string, "old_string")
        encoded(arguments.new_string, "new_string")
        edit = replaced(
            self._whole(parts, arguments.path),
            arguments.old_string,
            arguments.new_string,
            replace_all=arguments.replace_all,
        )
        self._enclosure.replace(parts, edit.data)
        times = _plural(edit.count, "replacement")
        return self._checked(
            parts, f"edited {shown('/'.join(parts))} ({times}, first at line {edit.line})"
        )

    def _whole(self, parts: tuple[str, ...], path: str) -> bytes:
        with (
            self._enclosure.file(parts) as descriptor,
            open(descriptor, "rb", closefd=False) as file,
        ):
            size = os.fstat(descriptor).st_size
            _check_text_file(file, path, size)
            if size > MAX_EDIT_BYTES:
                raise ToolError(f"{shown(path)} is too large to edit ({size} bytes): use bash")
            return file.read()

    def _checked(self, parts: tuple[str, ...], content: str) -> ToolOutcome:
        path = "/".join(parts)
        if self._linter is None or not path.endswith((".py", ".pyi")):
            return ToolOutcome(content=content)
        hook = self._linter.check(path)
        if hook.exit_code == 1:
            content = f"{content}\n\nruff found problems in it:\n{hook.output.rstrip()}"
        return ToolOutcome(content=content, hooks=(hook,))


def _is_one_line_of_many(content: str) -> bool:
    """Tell whether line breaks came as a backslash and an n."""
    return "\n" not in content.strip() and content.count("\\n") > 1


@dataclass(frozen=True)
class _Line:
    data: bytes
    dropped: int


def _window(file: BinaryIO, offset: int, limit: int) -> str:
    """Show the lines asked for, and say what was left out."""
    passed = _skip(file, offset - 1)
    if passed < offset - 1 or not _has_more(file):
        raise ToolError(f"offset {offset} is past the end: the file has {_plural(passed, 'line')}")
    if offset == 1:
        file.seek(len(_BOM) if file.read(len(_BOM)) == _BOM else 0)
    shown_lines: list[str] = []
    notes: list[str] = []
    size = 0
    for line in _lines(file, limit):
        text = _text(line, notes)
        shown_lines.append(text)
        size += len(text)
        if size > MAX_READ_CHARS:
            break
    if _has_more(file):
        last = offset + len(shown_lines) - 1
        notes.append(f"lines {offset} to {last} shown; read on with offset={last + 1}")
    content = "".join(shown_lines)
    if not notes:
        return content
    gap = "" if content.endswith("\n") else "\n"
    return content + gap + "\n".join(f"[{note}]" for note in dict.fromkeys(notes))


def _text(line: _Line, notes: list[str]) -> str:
    body = line.data.removesuffix(b"\n")
    ending = "\n" if line.data.endswith(b"\n") else ""
    if ending and body.endswith(b"\r"):
        body = body[:-1]
        notes.append("CRLF line endings, shown as plain ones; edit_file keeps them")
    text = body.decode("utf-8", "replace").replace("\0", "\ufffd")
    if "\ufffd" in text and not _is_utf8(body, complete=not line.dropped):
        notes.append("not valid UTF-8: bytes that cannot be read are shown as \ufffd")
    if len(text) > MAX_LINE_CHARS or line.dropped:
        rest = len(body) - len(text[:MAX_LINE_CHARS].encode()) + line.dropped
        text = f"{text[:MAX_LINE_CHARS]} [… about {rest} more bytes on this line]"
        ending = "\n"
    return text + ending


def _is_utf8(data: bytes, *, complete: bool) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return not complete and error.start >= len(data) - 3
    return True


def _lines(file: BinaryIO, limit: int) -> Iterator[_Line]:
    """Yield lines, holding no more of each than could be shown."""
    for _ in range(limit):
        data = piece = file.readline(MAX_LINE_CHARS * 4)
        if not data:
            return
        dropped = 0
        while not piece.endswith(b"\n") and (piece := file.readline(_CHUNK_BYTES)):
            dropped += len(piece.removesuffix(b"\n"))
        yield _Line(data, dropped)


def _skip(file: BinaryIO, lines: int) -> int:
    """Move past some lines, by chunks since a file may be huge; tell how many there were."""
    passed = 0
    is_open = False
    while passed < lines:
        chunk = file.read(_CHUNK_BYTES)
        if not chunk:
            return passed + is_open
        is_open = not chunk.endswith(b"\n")
        count = chunk.count(b"\n")
        if passed + count >= lines:
            end = -1
            for _ in range(lines - passed):
                end = chunk.index(b"\n", end + 1)
            file.seek(end + 1 - len(chunk), os.SEEK_CUR)
        passed = min(passed + count, lines)
    return passed


def _has_more(file: BinaryIO) -> bool:
    more = bool(file.read(1))
    if more:
        file.seek(-1, os.SEEK_CUR)
    return more


def _check_text_file(file: BinaryIO, path: str, size: int) -> None:
    if b"\0" in file.read(_SNIFF_BYTES):
        raise ToolError(f"{shown(path)} is a binary file ({size} bytes): use bash to inspect it")
    file.seek(0)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

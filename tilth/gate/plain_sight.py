"""Plain sight: what Python will run is what the evaluator is shown, or the change fails.

One comparison from outside: a source as Python parses its bytes against the text that a diff shows.
Names also what no diff shows: binaries, and whom a file speaks to. Pure but for the reading.
"""

from __future__ import annotations

import ast
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from operator import eq

from tilth.base.quiet import parse_quietly
from tilth.gate.steering import PYTHON_SUFFIXES
from tilth.gate.tampering import shortened
from tilth.git.changes import Change, is_cut

CONTEXT_FILES = ("AGENTS.md", "CLAUDE.md")
PLAIN_SIGHT = "plain sight"
_LARGEST = 1024 * 1024
_MOST_NAMES = 5
_ZIP, _ELF = b"PK\x03\x04", b"\x7fELF"
_COMPILED = (".so", ".pyd", ".dll", ".pyc", ".pyo")
_STARTS_PYTHON = re.compile(rb"#!.*\bpy(?:thon|py)")
# In the first line, or in the second after one that is no code.
_CODING = re.compile(
    r"\A\ufeff?(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n))??"
    r"[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)",
    re.ASCII,
)
_PLAIN = re.compile(r"utf-8(-.*)?|utf8|(us-)?ascii")
_PYTHONS_ENDS, _ENDS = re.compile(r"\r\n?"), re.compile(r"(?<!\r)\r++(?=\n|\Z)")
# Python takes a form feed that begins or ends a line for what is seen there: for nothing.
_INSIDE = re.compile(r"(?<![ \t\f])[ \t\f]++$|^\f+|([\0\f\r])", re.MULTILINE)
_OTHERWISE = (
    "Python reads it otherwise than it is shown: end lines by a line feed, and write a carriage "
    "return, form feed or NUL inside a text as an escape"
)
_NOT_UTF_8 = "and it is shown as UTF-8: save it as UTF-8 without this line"
_NOWHERE = "it leads to no file of the project, so nobody is shown what Python would run: add it"
_TOO_LONG = "the diff is longer than what is read of it: lines beyond were not looked at for notes"
_SPEAKS = (
    "it is told to workers and evaluators as the project's conventions; this session's later tasks "
    "see it as it was at the start"
)

Read = Callable[[str], bytes | None]


def compared(
    changes: Iterable[Change], read: Read, read_base: Read, *links: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what fails a change as it is not what it is shown as, and what stood so on the base.

    `links` are those of the base and of the tree, with what they lead to.
    """
    refused, known = [], []
    for path, to in sorted(_sources(changes, read, *links).items()):
        content = read(to)
        if content is None:
            refused.append(f"{path}: {_NOWHERE}")
            continue
        before = {why for _, why in _faults(read_base(path) or b"")}
        for number, why in _faults(content):
            if why in before:
                known.append(f"{path}:{number}: so it was on the base: {why}")
            else:
                refused.append(f"{path}:{number}: {why}")
    return shortened(refused), shortened(known)


def _sources(
    changes: Iterable[Change], read: Read, before: Mapping[str, str], after: Mapping[str, str]
) -> dict[str, str]:
    """Give the names by which Python may be handed a part of the change, and where it stands."""
    changed = {change.path for change in changes if change.status != "D"}
    named = {path: path for path in changed if _is_python(path, read)}
    led = {path: to for path, to in after.items() if to in changed or before.get(path) != to}
    return {**named, **{path: to for path, to in led.items() if path.endswith(PYTHON_SUFFIXES)}}


def _is_python(path: str, read: Read) -> bool:
    return path.endswith(PYTHON_SUFFIXES) or bool(_STARTS_PYTHON.match(read(path) or b""))


def _faults(raw: bytes) -> Iterable[tuple[int, str]]:
    """Say in which lines, and by what, a source is not what it is shown as."""
    text = raw.decode("utf-8", "backslashreplace")
    head = _CODING.match(text)
    coding = head[1].lower().replace("_", "-") if head else ""
    if head and not _PLAIN.fullmatch(coding):
        yield head[0].count("\n") + 1, f"Python reads it as {coding[:40]}, {_NOT_UTF_8}"
        try:
            text = raw.decode(coding, "backslashreplace")
        except (LookupError, ValueError):
            return
    text = text.removeprefix("\ufeff")
    read = _PYTHONS_ENDS.sub("\n", text)
    shown = _INSIDE.sub(_escaped, _ENDS.sub("", text))
    if read != shown and not _is_same(raw, shown):
        same = takewhile(bool, map(eq, read.split("\n"), shown.split("\n")))
        yield sum(same) + 1, _OTHERWISE


def _escaped(found: re.Match[str]) -> str:
    return f"\\x{ord(found[1]):02x}" if found[1] else found[0]


def _is_same(raw: bytes, text: str) -> bool:
    """Compare two syntax trees, however deep; what cannot be compared is not the same."""
    try:
        return len(raw) <= _LARGEST and _nodes(raw) == _nodes(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _nodes(source: bytes | str) -> list[object]:
    """Give the nodes of a syntax tree, level by level, each with what it holds of others."""
    tree = parse_quietly(source)
    return [
        (type(node), *(_held(value) for _, value in ast.iter_fields(node)))
        for node in ast.walk(tree)
    ]


def _held(value: object) -> object:
    if isinstance(value, list):
        return [*map(_held, value)]
    return type(value) if isinstance(value, ast.AST) else repr(value)


def unseen(
    changes: Iterable[Change], read: Read, told: Iterable[str], diff: str
) -> tuple[str, ...]:
    """Name what the diff of a change does not tell."""
    held = sorted(change.path for change in changes if change.status != "D")
    binaries = [
        f"{path}: {kind}, {len(content)} bytes that the diff does not show"
        for path in held
        if (content := read(path)) is not None and (kind := _kind(path, content))
    ]
    speak = [f"{path}: {_SPEAKS}" for path in held if path in {*CONTEXT_FILES, *told}]
    return (*([_TOO_LONG] if is_cut(diff) else ()), *shortened(binaries), *speak)


def _kind(path: str, content: bytes) -> str | None:
    if b"\0" not in content[:8192]:
        return None
    if content.startswith(_ELF) or path.endswith(_COMPILED):
        return "compiled code"
    if not content.startswith(_ZIP):
        return "a binary file"
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        names = []
    code = [name[:80] for name in names if name.endswith((".py", *_COMPILED))][:_MOST_NAMES]
    return f"an archive that holds code ({', '.join(code)})" if code else "an archive"

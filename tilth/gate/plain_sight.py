"""Plain sight: what Python will run is what the evaluator is shown, or the change fails.

One comparison from outside: a source as Python parses its bytes against the text that a diff shows.
Names also what no diff shows: binaries, what git rewrites at checkout, and whom a file speaks to.
Pure but for the reading and asking that is handed in.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from operator import eq

from tilth.base.errors import WorkspaceError
from tilth.base.quiet import parse_quietly
from tilth.gate.steering import PYTHON_SUFFIXES
from tilth.gate.tampering import shortened
from tilth.git.changes import Change

CONTEXT_FILES = ("AGENTS.md", "CLAUDE.md")
PLAIN_SIGHT = "plain sight"
_LARGEST = 1024 * 1024
_STARTS_PYTHON = re.compile(rb"#!.*\bpy(?:thon|py)")
# A comment in the first two lines that names another encoding than UTF-8 or ASCII.
_CODING = re.compile(
    r"(?:.*\n)?[^#\n]*+#.*?coding[:=][ \t]*+(?!(?:utf-?8|(?:us-)?ascii)(?![-\w.]))([-\w.]+)",
    re.IGNORECASE,
)
_PYTHONS_ENDS, _ENDS = re.compile(r"\r\n?"), re.compile(r"(?<!\r)\r++(?=\n|\Z)")
# Python takes a form feed that begins or ends a line for what is seen there: for nothing.
_INSIDE = re.compile(r"(?<![ \t\f])[ \t\f]++$|^\f+|([\0\f\r])", re.MULTILINE)
_OTHERWISE = (
    "Python reads it otherwise than it is shown: end lines by a line feed, write a carriage "
    "return, form feed or NUL inside a text as an escape, and save the file as UTF-8"
)
_NOWHERE = "it leads to no file of the project, so nobody is shown what Python would run: add it"
_NOT_TESTED = "what was tested is not what a checkout holds"
_TOO_MUCH = ".gitattributes: too much to be read, so what git rewrites at checkout is not known"
_SPEAKS = (
    "it is told to workers and evaluators as the project's conventions; this session's later tasks "
    "see it as it was at the start"
)

Read = Callable[[str], bytes | None]
Attributes = Callable[[Iterable[str]], Mapping[str, Mapping[str, str]]]


def compared(
    changes: Iterable[Change], read: Read, read_base: Read, *links: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what fails a change as it is not what it is shown as, and what stood so on the base.

    `links` are those of the base and of the tree, with what they lead to.
    """
    refused, known = [], []
    for path, to in sorted(_sources(changes, read, *links).items()):
        content = read(to)
        fault = f": {_NOWHERE}" if content is None else _fault(content)
        if fault and _fault(read_base(path) or b""):
            known.append(f"{path}: so it was on the base{fault}")
        elif fault:
            refused.append(f"{path}{fault}")
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


def _fault(raw: bytes) -> str:
    """Say in which line, and that, a source is not what it is shown as."""
    text = raw.decode("utf-8", "backslashreplace").removeprefix("\ufeff")
    read, shown = _PYTHONS_ENDS.sub("\n", text), _INSIDE.sub(_escaped, _ENDS.sub("", text))
    coding = _CODING.match(read)
    if (read == shown and coding is None) or _is_same(raw, shown):
        return ""
    if coding:
        return f": {_OTHERWISE}, not {coding[1][:40]}"
    same = takewhile(bool, map(eq, read.split("\n"), shown.split("\n")))
    return f":{sum(same) + 1}: {_OTHERWISE}"


def _escaped(found: re.Match[str]) -> str:
    return f"\\x{ord(found[1]):02x}" if found[1] else found[0]


def _is_same(raw: bytes, text: str) -> bool:
    """Compare two syntax trees, however deep; what cannot be compared is not the same."""
    try:
        return len(raw) <= _LARGEST and _nodes(raw) == _nodes(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _nodes(source: bytes | str) -> list[object]:
    """Give what each node of a syntax tree holds, level by level."""
    return [
        [type(each) if isinstance(each, ast.AST) else repr(each) for each in held]
        for node in ast.walk(parse_quietly(source))
        for _, value in ast.iter_fields(node)
        for held in [value if isinstance(value, list) else (value,)]
    ]


def unseen(
    changes: Iterable[Change], read: Read, told: Iterable[str], attributes: Attributes
) -> tuple[str, ...]:
    """Name what the diff of a change does not tell; `attributes` are those git has for files."""
    paths = sorted(change.path for change in changes if change.status != "D")
    binaries, rewritten, unknown = [], [], []
    held: Mapping[str, Mapping[str, str]] = {}
    try:
        held = attributes(paths)
    except WorkspaceError:
        unknown.append(_TOO_MUCH)
    for path in paths:
        content = read(path) or b""
        if b"\0" in content[:8192]:
            binaries.append(f"{path}: {len(content)} bytes that the diff does not show")
        if why := _rewrites(held.get(path, {}), content):
            rewritten.append(f"{path}: git rewrites it at checkout ({why}): {_NOT_TESTED}")
    speak = [f"{path}: {_SPEAKS}" for path in paths if path in {*CONTEXT_FILES, *told}]
    return (*shortened(binaries), *unknown, *shortened(rewritten), *speak)


def _rewrites(held: Mapping[str, str], content: bytes) -> str:
    """Say by which of its attributes a file is written otherwise than it is stored."""
    plain = {"unset", "utf-8", "utf8", "lf"}
    rest = {name: said for name, said in held.items() if said.lower() not in plain}
    if held.get("text") == "unset":
        rest.pop("eol", None)
    if b"$Id" not in content:
        rest.pop("ident", None)
    return ", ".join(f"{name}={said[:40]}" for name, said in rest.items() if name != "text")

"""What git makes of files when they are checked out, by the `.gitattributes` of a tree.

The gate proves the bytes that are stored. Where an attribute has git write others, what was tested
is not what a checkout holds: notes for the evaluator, nothing is refused. Pure but for the reading
that is handed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from tilth.base.values import Value
from tilth.gate.steering import may_change
from tilth.gate.tampering import AddedLine, shortened
from tilth.git.changes import Change

NAME = ".gitattributes"
_MOST_FILES = 200
_MACRO = "[attr]"
_CLASS = re.compile(r"\[[^\]]*\]")
_WORD = re.compile(r'"(?:\\.|[^"\\])*"|\S+')
KEYWORD = "$Id"
_NOT_TESTED = "what was tested is not what a checkout holds"

Setting = bool | str | None
Settings = dict[str, Setting]
_BINARY: Settings = {"diff": False, "merge": False, "text": False}


class Attributes(Value):
    """Hold the texts of a tree's attribute files by their directories, the root as ""."""

    texts: Mapping[str, str] = {}

    def of(self, path: str) -> Settings:
        """Give what is set for a path; a deeper file and a later line have the last word."""
        found: Settings = {}
        for directory, lines in self._rules.items():
            below = path.removeprefix(directory) if path.startswith(directory) else ""
            for pattern, settings in lines if below else ():
                if may_change(below, (pattern,)):
                    found.update(settings)
        return found

    @cached_property
    def _rules(self) -> dict[str, list[tuple[str, Settings]]]:
        macros: dict[str, Settings] = {"binary": _BINARY}
        return {
            f"{directory}/" if directory else "": list(_read(self.texts[directory], macros))
            for directory in sorted(self.texts, key=lambda name: (name.count("/"), name))
        }


def read_attributes(files: Iterable[str], read: Callable[[str], bytes | None]) -> Attributes:
    """Read the attribute files of a tree, the highest first."""
    paths = [path for path in files if PurePosixPath(path).name == NAME]
    highest = sorted(paths, key=lambda path: path.count("/"))[:_MOST_FILES]
    texts = {path.rpartition("/")[0]: read(path) or b"" for path in highest}
    return Attributes(texts={at: text.decode("utf-8", "replace") for at, text in texts.items()})


def keyword_notes(lines: Iterable[AddedLine], attributes: Attributes) -> tuple[str, ...]:
    """Name the added lines in which git replaces a keyword at checkout."""
    return shortened(
        [
            f"{line.path}:{line.number}: holds $Id$, which git replaces at checkout (ident): "
            f"{_NOT_TESTED}: {line.text.strip()[:120]}"
            for line in lines
            if _is_replaced(line.text) and attributes.of(line.path).get("ident") is True
        ]
    )


def _is_replaced(text: str) -> bool:
    return any(after[:1] in ("$", ":") for after in text.split(KEYWORD)[1:])


def rewriting_notes(changes: Iterable[Change], attributes: Attributes) -> tuple[str, ...]:
    """Name the changed files that git writes otherwise than they are stored."""
    if not attributes.texts:
        return ()
    held = (change.path for change in changes if change.status != "D")
    by = ((path, ", ".join(_rewritten_by(attributes.of(path)))) for path in held)
    return shortened(
        [f"{path}: git rewrites it at checkout ({why}): {_NOT_TESTED}" for path, why in by if why]
    )


def _rewritten_by(settings: Settings) -> Iterator[str]:
    for name in ("filter", "working-tree-encoding"):
        value = settings.get(name)
        if isinstance(value, str) and value.lower() not in ("utf-8", "utf8"):
            yield f"{name}={value[:40]}"
    if settings.get("eol") == "crlf" and settings.get("text") is not False:
        yield "eol=crlf"


def _read(text: str, macros: dict[str, Settings]) -> Iterator[tuple[str, Settings]]:
    for line in text.splitlines():
        pattern, *words = _WORD.findall(line) or [""]
        settings: Settings = {}
        for word in words:
            settings.update(_setting(word, macros))
        if pattern.startswith(_MACRO):
            macros[pattern.removeprefix(_MACRO)] = settings
        elif pattern and not pattern.startswith("#"):
            # A class of characters is read as any: rather a note too many.
            yield _CLASS.sub("?", pattern.strip('"')), settings


def _setting(word: str, macros: Mapping[str, Settings]) -> Settings:
    name, given, value = word.partition("=")
    if given:
        return {name: value}
    if word.startswith(("-", "!")):
        return {word[1:]: False if word.startswith("-") else None}
    return {**macros.get(word, {}), word: True}

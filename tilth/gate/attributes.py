"""What git makes of files when they are checked out, by the `.gitattributes` of a tree.

The gate proves the bytes that are stored. Where an attribute has git write others, what was tested
is not what a checkout holds: notes for the evaluator, nothing is refused. Pure but for the reading
that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from tilth.base.values import Value
from tilth.gate.attribute_lines import Rule, Setting, Words, is_readable, macros_of, rules_of
from tilth.gate.diff_lines import AddedLine
from tilth.gate.git_globs import as_bytes
from tilth.gate.tampering import shortened
from tilth.git.changes import Change

NAME = ".gitattributes"
KEYWORD = "$Id"
_MOST_FILES = 200
_MOST_CHARACTERS = 200_000
_MOST_RULES = 2_000
# Rules looked at and characters compared, all paths together.
_MOST_STEPS = 2_000_000
_LOOKED_AT = frozenset({"ident", "filter", "working-tree-encoding", "eol", "text"})
_BINARY: Words = [("diff", False), ("merge", False), ("text", False)]
_NOT_TESTED = "what was tested is not what a checkout holds"
_TOO_MUCH = f"{NAME}: there is too much in these files to be read, so {{}} is not known"

Settings = dict[str, Setting]


class TooMuch(Exception):
    """Say that a tree's attributes are too many to be told."""


class Attributes(Value):
    """Hold the texts of a tree's attribute files by their directories, the root as ""."""

    texts: Mapping[str, str] = {}

    def of(self, path: str) -> Settings:
        """Give what is set for a path; raises `TooMuch` where that cannot be told."""
        return self._reading.of(path)

    @cached_property
    def _reading(self) -> _Reading:
        return _Reading(self.texts)


class _Reading:
    """Answer for one path after another as git does, as long as that is not too much."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._left = _MOST_STEPS
        self._known: dict[str, Settings] = {}
        self._rules: dict[str, list[Rule]] = {}
        too_many = len(texts) > _MOST_FILES or sum(map(len, texts.values())) > _MOST_CHARACTERS
        if too_many or not all(map(is_readable, texts.values())):
            self._left = 0
            return
        # Git takes macros from the highest file alone, wherever in it they stand.
        self._macros = {"binary": _BINARY, **macros_of(texts.get("", ""))}
        looked_at = _LOOKED_AT | self._macros.keys()
        self._rules = {at: list(rules_of(text, looked_at)) for at, text in texts.items()}
        if sum(map(len, self._rules.values())) > _MOST_RULES:
            self._left = 0

    def of(self, path: str) -> Settings:
        if path not in self._known:
            self._spend(1)
            found: Settings = {}
            for rule in self._fitting(path):
                self._set(rule, found)
            self._known[path] = found
        return self._known[path]

    def _fitting(self, path: str) -> Iterator[Rule]:
        """Give the rules for a path, the one with the last word first."""
        name = as_bytes(path.rpartition("/")[2])
        for directory in _above(path):
            below = as_bytes(path[len(directory) :].removeprefix("/"))
            rules = self._rules.get(directory, [])
            self._spend(len(rules))
            for rule in reversed(rules):
                compared = name if rule.by_name else below
                if rule.glob.may_fit(compared):
                    self._spend(len(compared))
                    if rule.glob.fits(compared):
                        yield rule

    def _set(self, rule: Rule, found: Settings) -> None:
        """Set what no later word has set; a macro counts where its own name does."""
        waiting = [*rule.words]
        while waiting:
            self._spend(1)
            name, setting = waiting.pop()
            if name not in found:
                found[name] = setting
                waiting += self._macros.get(name, ()) if setting is True else ()

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise TooMuch


def _above(path: str) -> Iterator[str]:
    """Give the directories a path stands in, the deepest first and the root as ""."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def read_attributes(files: Iterable[str], read: Callable[[str], bytes | None]) -> Attributes:
    """Read the attribute files of a tree, the highest first, one more of each than is too much."""
    paths = [path for path in files if PurePosixPath(path).name == NAME]
    highest = sorted(paths, key=lambda path: path.count("/"))[: _MOST_FILES + 1]
    texts = {path.rpartition("/")[0]: _start_of(read(path) or b"") for path in highest}
    return Attributes(texts=texts)


def _start_of(content: bytes) -> str:
    # A character has at most four bytes.
    return content[: 4 * _MOST_CHARACTERS + 4].decode("utf-8", "replace")


def keyword_notes(lines: Iterable[AddedLine], attributes: Attributes) -> tuple[str, ...]:
    """Name the added lines in which git replaces a keyword at checkout."""
    notes: list[str] = []
    try:
        for line in lines:
            if _is_replaced(line.text) and attributes.of(line.path).get("ident") is True:
                notes.append(
                    f"{line.path}:{line.number}: holds $Id$, which git replaces at checkout "
                    f"(ident): {_NOT_TESTED}: {line.text.strip()[:120]}"
                )
    except TooMuch:
        return (*shortened(notes), _TOO_MUCH.format("in which lines git replaces $Id$ at checkout"))
    return shortened(notes)


def _is_replaced(text: str) -> bool:
    return any(after[:1] in ("$", ":") for after in text.split(KEYWORD)[1:])


def rewriting_notes(changes: Iterable[Change], attributes: Attributes) -> tuple[str, ...]:
    """Name the changed files that git writes otherwise than they are stored."""
    notes: list[str] = []
    try:
        for change in changes:
            if attributes.texts and change.status != "D":
                notes += _rewriting(change.path, attributes.of(change.path))
    except TooMuch:
        return (*shortened(notes), _TOO_MUCH.format("which files git rewrites at checkout"))
    return shortened(notes)


def _rewriting(path: str, settings: Settings) -> Iterator[str]:
    why = ", ".join(_rewritten_by(settings))
    if why:
        yield f"{path}: git rewrites it at checkout ({why}): {_NOT_TESTED}"


def _rewritten_by(settings: Settings) -> Iterator[str]:
    for name in ("filter", "working-tree-encoding"):
        value = settings.get(name)
        if isinstance(value, str) and value.lower() not in ("utf-8", "utf8"):
            yield f"{name}={value[:40]}"
    if settings.get("eol") == "crlf" and settings.get("text") is not False:
        yield "eol=crlf"

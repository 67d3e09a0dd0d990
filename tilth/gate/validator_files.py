"""The files of a tree that a named validator runs or goes by, as far as its command tells.

A path among its words, a module after `-m`, and the file of tasks that a runner such as make or npm
reads. What those files read in turn is not known here. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from tilth.config.project import NamedValidator

_NODE = ("package.json",)
_TASK_FILES: Mapping[str, Sequence[str]] = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "makefile", "GNUmakefile"),
    "bmake": ("Makefile", "makefile", "BSDmakefile"),
    "npm": _NODE,
    "npx": _NODE,
    "yarn": _NODE,
    "pnpm": _NODE,
    "bun": _NODE,
    "tox": ("tox.ini", "tox.toml"),
    "nox": ("noxfile.py",),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"),
    "go-task": ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"),
    "invoke": ("tasks.py",),
    "inv": ("tasks.py",),
    "doit": ("dodo.py",),
    "rake": ("Rakefile", "rakefile", "Rakefile.rb"),
    "pre-commit": (".pre-commit-config.yaml",),
}
_MAKE = frozenset({"make", "gmake", "bmake"})
# A command line inside a word, as `sh -c` takes it.
_BETWEEN = re.compile(r"[\s;|&()<>'\"`]+")
_IMPORT_ROOTS = ("", "src")


def users_of(path: str, validators: Iterable[NamedValidator]) -> tuple[str, ...]:
    """Name the validators whose command runs a file or goes by it."""
    return tuple(each.name for each in validators if _uses(each.command, path))


def _uses(command: Iterable[str], path: str) -> bool:
    words = [word for whole in command for word in _BETWEEN.split(whole) if word]
    named = {place for word in words for place in _places(word)}
    if path in named or path in _modules(words):
        return True
    tools = {posixpath.basename(word) for word in words}
    if path.endswith(".mk") and not tools.isdisjoint(_MAKE):
        return True
    files = {name for tool in tools for name in _TASK_FILES.get(tool, ())}
    where, _, name = path.rpartition("/")
    if name in files and (not where or where in named):
        return True
    # `cd tools && python check.py`, `make -C web -f rules.mk`
    return bool(where) and where in named and name in named


def _places(word: str) -> set[str]:
    """Give the paths one word may name: itself, an option's value, a file with a line or test."""
    found = {word, word.partition("=")[2], word.partition(":")[0]}
    return {posixpath.normpath(place) for place in found if place and not place.startswith("/")}


def _modules(words: Sequence[str]) -> set[str]:
    asked = [after for word, after in pairwise(words) if word == "-m"]
    return {
        posixpath.join(root, *name.split("."), *rest) + ".py"
        for name in asked
        for root in _IMPORT_ROOTS
        for rest in ((), ("__main__",), ("__init__",))
    }

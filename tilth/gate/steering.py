"""The files that steer the gate: which paths they are, and which of them a task may change.

A steering file decides what pytest, ruff or coverage do before the project's code has a say, so the
gate takes it from the base. Paths are texts relative to the repository's root. Nothing here reads
a file or decides whether a change was honest.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import PurePosixPath

TESTS = "tests"
MODULE_SUFFIXES = (".py", ".pyc", ".so", ".pyd")

_WHOLE_FILES = frozenset(
    {
        "pytest.ini",
        ".pytest.ini",
        "pytest.toml",
        ".pytest.toml",
        "ruff.toml",
        ".ruff.toml",
        ".coveragerc",
    }
)
_SHARED_FILES = frozenset({"pyproject.toml", "setup.cfg", "tox.ini"})
# Python finds these by module name, so a package of that name counts as well.
_MODULES = frozenset({"conftest", "sitecustomize", "usercustomize"})
_PLACES = ("src", TESTS)
_TOOLS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "ruff", "coverage"})


class Steers(StrEnum):
    """Say how a file steers the gate."""

    WHOLE = "the whole file"
    SECTIONS = "its pytest, ruff and coverage sections"
    SHADOW = "a module of that name hides the real one"


def steers(path: str, new_modules: frozenset[str]) -> Steers | None:
    """Tell how a path steers the gate; `new_modules` are the ones the base did not have."""
    parts = PurePosixPath(path).parts
    name = parts[-1]
    if name in _WHOLE_FILES or name.endswith(".pth"):
        return Steers.WHOLE
    if name in _SHARED_FILES:
        return Steers.SECTIONS
    if any(_stem(part) in _MODULES for part in parts) and name.endswith(MODULE_SUFFIXES):
        return Steers.WHOLE
    if len(parts) > 1 and parts[-2].endswith((".dist-info", ".egg-info")):
        return Steers.WHOLE
    module = top_module(path)
    if module in new_modules and _hides(module):
        return Steers.SHADOW
    return None


def top_module(path: str) -> str | None:
    """Give the place and name of the top-level module a file belongs to; None if to none.

    `src/json/__init__.py` gives `src:json`, because `src/` stands on the import path.
    """
    parts = PurePosixPath(path).parts
    place, inner = ("", parts)
    if parts[0] in _PLACES and len(parts) > 1:
        place, inner = parts[0], parts[1:]
    if not inner[-1].endswith(MODULE_SUFFIXES):
        return None
    return f"{place}:{_stem(inner[0])}"


def new_modules(base: Iterable[str], tree: Iterable[str]) -> frozenset[str]:
    """Give the top-level modules that can be imported from the tree and were not in the base."""
    found = frozenset(top_module(path) for path in tree if _makes_module(path))
    return frozenset(name for name in found - {*map(top_module, base)} if name is not None)


def _makes_module(path: str) -> bool:
    """Tell a module or package from a plain directory, which hides nothing."""
    parts = PurePosixPath(path).parts
    inner = parts[1:] if parts[0] in _PLACES and len(parts) > 1 else parts
    return len(inner) == 1 or (len(inner) == 2 and _stem(inner[1]) == "__init__")


def may_change(path: str, globs: Iterable[str]) -> bool:
    """Tell whether one of a task's globs names the path; one without a slash fits at any depth."""
    return any(_pattern(glob).fullmatch(path) for glob in globs)


def _hides(module: str) -> bool:
    place, _, name = module.partition(":")
    # Directories below tests/ are often called like what they test: `tests/json/`.
    known = _TOOLS if place == TESTS else _TOOLS | sys.stdlib_module_names - {"test"}
    return name in known


def _stem(part: str) -> str:
    return part.partition(".")[0] if not part.startswith(".") else part


def _pattern(glob: str) -> re.Pattern[str]:
    glob = glob.removeprefix("./")
    anywhere = "" if "/" in glob.rstrip("/") else r"(?:.*/)?"
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", glob.lstrip("/"))
    meaning = {"**/": r"(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile(anywhere + "".join(meaning.get(p, re.escape(p)) for p in pieces), re.DOTALL)

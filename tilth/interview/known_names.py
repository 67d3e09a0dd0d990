"""Known names: what an export of the base and the interpreter beside it can import."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from tilth.base.errors import BadText
from tilth.base.foreign_text import LARGEST_CONFIG, read_toml
from tilth.base.plain_file import read_inside
from tilth.interview.red_reason import KnownNames

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_MOST_SOURCES = 20_000


def read_names(
    export: Path,
    python: Path,
    plan: str,
    tests: Iterable[str],
    ignored: Callable[[str], str | None] = lambda module: None,
) -> KnownNames:
    """Look around an export: its own modules, and the names of everything else."""
    project = frozenset(_modules(export)) | frozenset(_modules(export / "src"))
    return KnownNames(
        project=project,
        outside=frozenset(sys.stdlib_module_names)
        | frozenset(_installed(python))
        | frozenset(_declared(export)),
        plan=plan,
        tests=frozenset(tests),
        defines=lambda name: _defines(export, name, frozenset(tests)),
        ignored=ignored,
    )


def _modules(folder: Path) -> Iterator[str]:
    """Name the modules and packages that stand in a folder."""
    for entry in _entries(folder):
        if entry.name.endswith(".py"):
            yield entry.name.removesuffix(".py")
        elif entry.name.isidentifier() and entry.is_dir() and _holds_python(Path(entry.path)):
            yield entry.name


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _holds_python(folder: Path) -> bool:
    # A namespace package may hold its modules one level down.
    return any(
        entry.name.endswith(".py") or (entry.is_dir() and (Path(entry) / "__init__.py").exists())
        for entry in _entries(folder)
    )


def _installed(python: Path) -> Iterator[str]:
    for place in python.parent.parent.glob("lib/python3*/site-packages"):
        for entry in _entries(place):
            name = entry.name.removesuffix(".py")
            if name.isidentifier() and not name.startswith("_"):
                yield name


def _declared(export: Path) -> Iterator[str]:
    """Name what the project says it depends on, in the form it is imported by most often."""
    for line in _requirements(export):
        found = _REQUIREMENT.match(line)
        if found:
            yield found[1].replace("-", "_").lower()


def _requirements(export: Path) -> Iterator[str]:
    for path in sorted(export.glob("requirements*.txt")):
        with suppress(OSError):
            yield from read_inside(export, path).decode("utf-8", "replace").splitlines()
    try:
        content = read_inside(export, export / "pyproject.toml", LARGEST_CONFIG)
        project = read_toml(content).get("project")
    except (OSError, BadText):
        return
    listed = project.get("dependencies") if isinstance(project, dict) else None
    if isinstance(listed, list):
        yield from (line for line in listed if isinstance(line, str))


def _defines(export: Path, name: str, tests: frozenset[str]) -> bool:
    """Tell whether the project's own sources define a function or class of this name."""
    wanted = re.compile(rf"^\s*(?:async\s+def|def|class)\s+{re.escape(name)}\b", re.MULTILINE)
    for number, path in enumerate(export.rglob("*.py")):
        if number >= _MOST_SOURCES:
            return False
        if path.is_symlink() or str(path.relative_to(export)) in tests:
            continue
        try:
            if wanted.search(read_inside(export, path).decode("utf-8", "replace")):
                return True
        except OSError:
            continue
    return False

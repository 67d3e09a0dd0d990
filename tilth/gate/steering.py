"""The files that steer the gate: which paths they are, and which of them a task may change.

A steering file decides what pytest, ruff or coverage do before the project's code has a say, so the
gate takes it from the base. Paths are texts relative to the repository's root. Nothing here reads
a file or decides whether a change was honest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from enum import StrEnum
from pathlib import PurePosixPath

from tilth.gate.globs import fits

TESTS = "tests"
PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")
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


class Steers(StrEnum):
    """Say how a file steers the gate."""

    WHOLE = "the whole file"
    SECTIONS = "its pytest, ruff and coverage sections"


def steers(path: str) -> Steers | None:
    """Tell how a path steers the gate."""
    parts = PurePosixPath(path).parts
    name = parts[-1]
    if name in _WHOLE_FILES or name.endswith(".pth"):
        return Steers.WHOLE
    if name in _SHARED_FILES:
        return Steers.SECTIONS
    if any(stem(part) in _MODULES for part in parts) and name.endswith(MODULE_SUFFIXES):
        return Steers.WHOLE
    if len(parts) > 1 and parts[-2].endswith((".dist-info", ".egg-info")):
        return Steers.WHOLE
    return None


def is_test_file(path: str) -> bool:
    """Tell whether pytest takes a file for tests by its name."""
    name = PurePosixPath(path).name
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def is_beside_tests(path: str) -> bool:
    """Tell whether a file stands among the tests."""
    return path.startswith(f"{TESTS}/")


def is_of_tests(path: str) -> bool:
    """Tell whether a file is Python that is run with the tests."""
    named = is_test_file(path) or PurePosixPath(path).name == "conftest.py"
    return path.endswith(".py") and (is_beside_tests(path) or named)


def makes_package(path: str) -> bool:
    """Tell whether a file makes its directory a package."""
    name = PurePosixPath(path).name
    return stem(name) == "__init__" and name.endswith(MODULE_SUFFIXES)


def makes_package_of_tests(path: str, directories: Container[str]) -> bool:
    """Tell whether a new file makes a package of one of the base's directories of tests."""
    return makes_package(path) and is_beside_tests(path) and path.rpartition("/")[0] in directories


def stem(part: str) -> str:
    """Give the name a file is imported by; one that begins with a dot is imported by none."""
    return part.partition(".")[0] if not part.startswith(".") else part


def may_change(path: str, globs: Iterable[str]) -> bool:
    """Tell whether one of a task's globs names the path; one without a slash fits at any depth."""
    return any(fits(glob, path) for glob in globs)

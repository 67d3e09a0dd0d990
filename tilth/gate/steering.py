"""The files that steer the gate: which paths they are, and which of them a task may change.

A steering file decides what pytest, ruff or coverage do before the project's code has a say, so the
gate takes it from the base. Paths are texts relative to the repository's root. Nothing here reads
a file or decides whether a change was honest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

TESTS = "tests"
PYTHON_SUFFIXES = (".py", ".pyi", ".pyw")
MODULE_SUFFIXES = (".py", ".pyc", ".so", ".pyd")

_OWN_FILES = ("pytest.ini", "pytest.toml", "ruff.toml")
_WHOLE_FILES = frozenset({".coveragerc", *_OWN_FILES, *(f".{name}" for name in _OWN_FILES)})
_SHARED_FILES = ("pyproject.toml", "setup.cfg", "tox.ini")
# Python finds these by module name, so a package of that name counts as well.
_MODULES = frozenset({"conftest", "sitecustomize", "usercustomize"})


WHOLE = "it steers the gate"
SECTIONS = "its pytest, ruff and coverage sections steer the gate"


def steers(path: str) -> str | None:
    """Say how a path steers the gate."""
    parts = PurePosixPath(path).parts
    name = parts[-1]
    if name in _SHARED_FILES:
        return SECTIONS
    in_metadata = any(part.endswith((".dist-info", ".egg-info")) for part in parts[:-1])
    is_module = name.endswith(MODULE_SUFFIXES) and bool(_MODULES & stems(path))
    whole = name in _WHOLE_FILES or name.endswith(".pth") or in_metadata or is_module
    return WHOLE if whole else None


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


def makes_package_of_tests(path: str, directories: Container[str]) -> bool:
    """Tell whether a new file makes a package of one of the base's directories of tests."""
    place, _, name = path.rpartition("/")
    is_init = stem(name) == "__init__" and name.endswith(MODULE_SUFFIXES)
    return is_init and is_beside_tests(path) and place in directories


def stem(part: str) -> str:
    """Give the name a file is imported by; one that begins with a dot is imported by none."""
    return part.partition(".")[0] if not part.startswith(".") else part


def stems(path: str) -> set[str]:
    """Give the names by which a path and its directories are imported."""
    return set(map(stem, path.split("/")))


def fits_one(path: str, globs: Iterable[str]) -> bool:
    """Tell whether one of a task's globs names the path; one without a slash fits at any depth."""
    return any(_fits(glob.removeprefix("./"), path.split("/")) for glob in globs)


def _fits(glob: str, names: list[str]) -> bool:
    # The path may be the worker's: all places it may have come to are kept, none is tried twice.
    anywhere = [] if "/" in glob.rstrip("/") else ["**"]
    reached = {0}
    for part in (*anywhere, *glob.lstrip("/").split("/")):
        if part.startswith("**") and not part.strip("*"):
            reached = set(range(min(reached, default=len(names) + 1), len(names) + 1))
        else:
            name = part.replace("[", "[[]")
            found = {at for at in reached - {len(names)} if fnmatchcase(names[at], name)}
            reached = {at + 1 for at in found}
    return len(names) in reached

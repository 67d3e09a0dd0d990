"""Generated directories: the names of what tools make beside the code, kept in one list.

Each reader leaves out what it must, and no more: a search skips all of them, a fingerprint too, a
frozen tree leaves out only caches that no honest change holds.
"""

from __future__ import annotations

CACHES = (".pytest_cache", ".ruff_cache", ".mypy_cache", ".venv", "node_modules")
BYTECODE = "__pycache__"
VERSION_CONTROL = (".git", ".hg", ".svn")
TEST_ENVIRONMENTS = (".nox", ".tox")

COMPILED_SUFFIXES = (b".pyc", b".pyo")
VIRTUALENV_MARK = "pyvenv.cfg"

SEARCH_SKIPS = frozenset((*CACHES, BYTECODE, *VERSION_CONTROL, *TEST_ENVIRONMENTS))


def encoded(*names: str) -> frozenset[bytes]:
    """Give names as a file system gives them."""
    return frozenset(name.encode() for name in names)

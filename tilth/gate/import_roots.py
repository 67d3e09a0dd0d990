"""The import roots: the directories that modules are imported from when a project's tests run.

Told from file lists and from pytest's configuration. What stands in those directories, and what it
hides, is decided elsewhere. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from tilth.base.values import Value
from tilth.gate.pytest_config import PytestSetup
from tilth.gate.steering import TESTS, is_beside_tests, is_test_file

_SEED = f"{TESTS}/test_.py"


class ImportRoots(Value):
    """Hold import roots, the repository's own as "".

    `tests` are directories of tests, which pytest puts before all others; of `product` the one that
    is asked first comes first.
    """

    tests: frozenset[str] = frozenset()
    product: tuple[str, ...] = ("", "src")

    @property
    def all(self) -> frozenset[str]:
        return self.tests.union(self.product)

    @property
    def judging(self) -> frozenset[str]:
        """Give those whose modules judge the product; elsewhere tests may stand beside programs."""
        return frozenset(root for root in self.tests if _is_of_tests(root))

    def after(self, root: str) -> tuple[str, ...]:
        """Give the roots of the product that are asked after another root."""
        if root in self.tests:
            return self.product
        return self.product[self.product.index(root) + 1 :]


def import_roots(
    base: Iterable[str], export: Iterable[str], runs: Iterable[PytestSetup]
) -> ImportRoots:
    """Find the import roots of some runs of pytest on an export of a changed base.

    A file of the base that the change deletes is back in some of them, so a directory of tests is
    looked at with and without it.
    """
    setups = tuple(runs)
    added = [path for setup in setups for path in setup.search_path]
    product = tuple(dict.fromkeys([*(p for p in added if not _is_of_tests(p)), "", "src"]))
    tests = {path for path in added if _is_of_tests(path)}
    if any(setup.adds_directories for setup in setups):
        patterns = frozenset(pattern for setup in setups for pattern in setup.collects)
        left = frozenset(export)
        whole = left.union(base)
        holding = {_directory(path) for path in whole if _is_collected(path, patterns)}
        holding.add(_directory(_SEED))
        tests |= {_root(directory, files) for directory in holding for files in (left, whole)}
    return ImportRoots(tests=frozenset(tests.difference(product)), product=product)


def _is_of_tests(root: str) -> bool:
    return root == TESTS or is_beside_tests(root)


def _is_collected(path: str, patterns: frozenset[str]) -> bool:
    """Tell whether pytest may import a file by itself, and with it add its directory."""
    if not path.endswith(".py"):
        return False
    name = PurePosixPath(path).name
    return name == "conftest.py" or is_test_file(path) or any(_fits(path, p) for p in patterns)


def _fits(path: str, pattern: str) -> bool:
    if "/" in pattern:
        return fnmatchcase(f"/{path}", f"*/{pattern}")
    return fnmatchcase(PurePosixPath(path).name, pattern)


def _root(directory: str, files: frozenset[str]) -> str:
    """Find the directory that pytest adds for a file: the first that is no package."""
    while f"{directory}/__init__.py" in files and PurePosixPath(directory).name.isidentifier():
        directory = _directory(directory)
    return directory


def _directory(path: str) -> str:
    return path.rpartition("/")[0]

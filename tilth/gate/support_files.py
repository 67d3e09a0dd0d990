"""The files that tests stand on: what they read on the base and product code does not. Pure.

Helpers, golden data, configuration of tests. Told from who read what, not from a directory's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from tilth.gate.steering import is_test_file

_IMPORT_ROOTS = frozenset({"", "src"})


def support_files(reads: Iterable[tuple[str, str]], collected: Iterable[str]) -> frozenset[str]:
    """Give what tests alone read; `reads` are pairs of a reader, "" for pytest, and a file.

    A module is support where tests stand beside or above it; elsewhere it is what they test.
    """
    readers: dict[str, set[str]] = {}
    for reader, path in reads:
        readers.setdefault(path, set()).add(reader)
    tests = {node.partition("::")[0] for node in collected}
    tests |= {path for path in readers if PurePosixPath(path).name == "conftest.py"}
    places = _places(tests, readers)
    support: set[str] = set()
    while True:
        judging = tests | support | {""}
        more = {
            path
            for path, by in readers.items()
            if path not in judging and by <= judging and by != {""}
            if not path.endswith(".py") or _stands_below(path, places)
        }
        if not more:
            return frozenset(support)
        support |= more


def _places(tests: set[str], readers: Mapping[str, set[str]]) -> frozenset[str]:
    """Give the directories of tests alone: none holds a module that is tested or used by others."""
    holding = {_directory(path) for path in tests} - _IMPORT_ROOTS
    others = {path for path in readers if path.endswith(".py")} - tests
    subjects = {f"{_directory(path)}/{_subject(path)}.py" for path in tests}
    mixed = {
        _directory(path)
        for path in others
        if path in subjects or not all(_below(by, _directory(path)) for by in readers[path])
        if PurePosixPath(path).name != "__init__.py"
    }
    return frozenset(holding - mixed)


def _below(reader: str, directory: str) -> bool:
    """Tell whether a reader is a test, or stands in the same directory of them."""
    return is_test_file(reader) or not reader or reader.startswith(f"{directory}/")


def _stands_below(path: str, places: frozenset[str]) -> bool:
    return any(str(parent) in places for parent in PurePosixPath(path).parents)


def _directory(path: str) -> str:
    return path.rpartition("/")[0]


def _subject(path: str) -> str:
    """Give the name of the module that a file of tests is named after."""
    return PurePosixPath(path).stem.removeprefix("test_").removesuffix("_test")

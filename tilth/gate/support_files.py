"""The files that tests stand on: what they read on the base and product code does not. Pure.

Helpers, golden data, configuration of tests. Told from who read what, not from a directory's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from posixpath import basename, dirname

from tilth.gate.steering import is_test_file


def support_files(reads: Iterable[tuple[str, str]], collected: Iterable[str]) -> frozenset[str]:
    """Give what tests alone read; `reads` are pairs of a reader, "" for pytest, and a file.

    A module is support where tests stand beside or above it; elsewhere it is what they test.
    """
    readers: dict[str, set[str]] = {}
    for reader, path in reads:
        readers.setdefault(path, set()).add(reader)
    tests = {node.partition("::")[0] for node in collected}
    tests |= {path for path in readers if basename(path) == "conftest.py"}
    places = tuple(f"{place}/" for place in _places(tests, readers))
    able = {path for path in readers if not path.endswith(".py") or path.startswith(places)}
    able = {path for path in able - tests if readers[path] != {""}}
    support: set[str] = set()
    while more := {path for path in able - support if readers[path] <= tests | support | {""}}:
        support |= more
    return frozenset(support)


def _places(tests: set[str], readers: Mapping[str, set[str]]) -> set[str]:
    """Give the directories of tests alone: none holds a module that is tested or used by others."""
    mixed = {"", "src"}
    for path, by in readers.items():
        place, name = dirname(path), basename(path)
        tested = {f"{place}/test_{name}", f"{place}/{name.removesuffix('.py')}_test.py"} & tests
        inside = all(is_test_file(each) or f"{each}/".startswith(f"{place}/") for each in by - {""})
        if path not in tests and name.endswith(".py") and name != "__init__.py":
            mixed |= {place} if tested or not inside else set()
    return set(map(dirname, tests)) - mixed

"""The tests of the base: which of them passed there, and what has become of each on a tree.

Decided on reports alone. A test that is skipped or gone has no result that is red, and proves as
little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable
from pathlib import PurePosixPath

from tilth.gate.findings import SuiteRecord
from tilth.gate.passing import PytestRun
from tilth.gate.pristine import file_of, function_of
from tilth.gate.steering import is_test_file

STILL_PASSES = "its base version still passes on this tree"
_MOST_NAMED = 10


def passed_functions(run: PytestRun) -> dict[str, tuple[str, ...]]:
    """Give the test functions of which at least one test passed, by their file."""
    found: dict[str, dict[str, None]] = {}
    for node in _passed(run):
        found.setdefault(file_of(node), {})[function_of(node)] = None
    return {path: tuple(functions) for path, functions in found.items()}


def passed_cases(run: PytestRun) -> dict[str, int]:
    """Count the tests that passed of each function which is run several times, by its node."""
    counts = Counter(node.partition("[")[0] for node in _passed(run))
    return {function: count for function, count in counts.items() if count > 1}


def lost_tests(before: SuiteRecord, run: PytestRun, changed: Container[str]) -> dict[str, str]:
    """Name the tests that passed and neither pass nor fail now, their file being untouched."""
    untouched = (path for path in before.passed if path not in changed)
    return {
        node: f"{node}: passed on the base, is skipped or gone here"
        for node in _lost(before, run, untouched)
    }


def fewer_cases(before: SuiteRecord, run: PytestRun, changed: Container[str]) -> tuple[str, ...]:
    """Name the functions of untouched files that pass in fewer cases than on the base."""
    now = Counter(node.partition("[")[0] for node in _passed(run))
    return tuple(
        f"{function}: {count} cases passed on the base, {now[function]} here"
        for function, count in before.cases.items()
        if 0 < now[function] < count and file_of(function) not in changed
    )


def lost_doctests(before: SuiteRecord, run: PytestRun, changed: Collection[str]) -> tuple[str, ...]:
    """Name what was tested in the text of a changed product file, and is not any more."""
    product = (path for path in before.passed if path in changed and not holds(path, before))
    return tuple(
        f"{node}: a test of the base in a file that was changed; it is skipped or gone here"
        for node in _lost(before, run, product)
    )


def holds(path: str, before: SuiteRecord) -> bool:
    """Tell whether a file of the base is one of tests, whatever the project calls such files."""
    functions = before.passed.get(path, ())
    if is_test_file(path) or (functions and not path.endswith(".py")):
        return True
    # A doctest is named after the module that it stands in: that one is the product's.
    own = PurePosixPath(path).stem
    return any(own not in function.split(".") for function in functions)


def standing(path: str, run: PytestRun | None, before: SuiteRecord) -> str:
    """Say how the base version of a file of tests does on the tree that changed it."""
    if run is None:
        return "its base version could not be run on this tree"
    red = [r.node for r in run.results if r.is_red and file_of(r.node) == path]
    if red:
        return f"its base version FAILS on this tree: {_named(red)}"
    lost = list(_lost(before, run, (path,)))
    if lost:
        return f"its base version does NOT pass on this tree, skipped or gone: {_named(lost)}"
    elsewhere = {file_of(function) for function in before.cases} - {path}
    fewer = fewer_cases(before, run, elsewhere)
    if fewer:
        return f"its base version passes in part on this tree: {_named(fewer)}"
    if not before.passed.get(path):
        return "its base version has no test that passed on the base"
    return STILL_PASSES


def with_the_bases(run: PytestRun | None, before: SuiteRecord) -> str:
    """Say how the tests do on a tree that has got back what they stood on."""
    if run is None:
        return "they could not be run on this tree"
    red = [
        result.node
        for result in run.results
        if result.is_red and function_of(result.node) in before.passed.get(file_of(result.node), ())
    ]
    return f"tests FAIL that passed before: {_named(red)}" if red else "all pass on this tree too"


def is_held(node: str, base: PytestRun | None, before: SuiteRecord) -> bool:
    """Tell whether a test that is red on a tree is held against it: it is not red on the base.

    One that passed there is, and so is one that nobody has seen there: the change brings it.
    """
    path, function = file_of(node), node.partition("[")[0]
    if base is None:
        return function_of(node) in before.passed.get(path, ())
    if any(result.node == path and result.is_red for result in base.results):
        return False
    for wanted in (node, function):
        found = [r for r in base.results if _is_below(r.node, wanted)]
        if found:
            return any(r.ending == "passed" for r in found) and not any(r.is_red for r in found)
    return True


def passes(node: str, run: PytestRun | None) -> bool:
    """Tell whether a test, or every test of a file that no longer loads, passed in a run."""
    found = [r for r in run.results if _is_below(r.node, node)] if run else []
    return any(r.ending == "passed" for r in found) and not any(r.is_red for r in found)


def _lost(before: SuiteRecord, run: PytestRun, paths: Iterable[str]) -> Iterable[str]:
    passed = passed_functions(run)
    red = {result.node for result in run.results if result.is_red}
    failed = {(file_of(node), function_of(node)) for node in red}
    for path in paths:
        for name in before.passed.get(path, ()):
            gone = name not in passed.get(path, ()) and (path, name) not in failed
            if gone and path not in red:
                yield f"{path}::{name}"


def _passed(run: PytestRun) -> list[str]:
    return [result.node for result in run.results if result.ending == "passed"]


def _is_below(node: str, wanted: str) -> bool:
    return node == wanted or node.startswith((f"{wanted}::", f"{wanted}["))


def _named(nodes: Collection[str]) -> str:
    rest = len(nodes) - _MOST_NAMED
    return ", ".join([*nodes][:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")

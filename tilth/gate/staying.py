"""Tests of a regression criterion: green on the base, and proven by staying so. Pure.

The comment `# AC-2 stays`, in a test or right above it, marks one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tilth.gate.passing import PytestRun
from tilth.gate.pristine import SeedReading, function_of

_STAYS = re.compile(r"\bAC-[0-9]+[ \t]+stays\b")


def comments_of(held: SeedReading) -> Iterator[tuple[str, str]]:
    """Give each comment in a test or right above it, with the test's name."""
    for test, (first, last) in held.spans.items():
        above = first
        while above - 1 in held.comments:
            above -= 1
        for line in range(above, last + 1):
            if line in held.comments:
                yield test, held.comments[line]


def staying_tests(held: SeedReading) -> frozenset[str]:
    """Name the tests of a file that are to be green on the base."""
    return frozenset(test for test, comment in comments_of(held) if _STAYS.search(comment))


def staying_nodes(run: PytestRun | None, paths: Iterable[str]) -> tuple[str, ...]:
    """Name the results of a run that were green as they are to be."""
    if run is None:
        return ()
    marked = {path: staying_tests(run.seeds[path]) for path in paths if path in run.seeds}
    return tuple(
        result.node
        for result in run.results
        if result.ending == "passed"
        and function_of(result.node) in marked.get(result.node.partition("::")[0], ())
    )

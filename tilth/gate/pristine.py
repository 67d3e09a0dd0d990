"""What a pristine seed test holds: which tests must run, and which of them may be skipped.

The reading itself is done by `in_target.seed_reading`, in whichever interpreter. Never imports or
runs a test.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ConfigDict

from tilth.base.values import Value
from tilth.gate.in_target import seed_reading


class SeedReading(Value):
    """Hold what an interpreter reads in a test file; `error` says why it cannot.

    `spans` are the lines of each test, `skip_lines` those that skip one, `comments` all comments
    by their line.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    error: str | None = None
    tests: tuple[str, ...] = ()
    may_skip: tuple[str, ...] = ()
    all_may_skip: bool = False
    spans: Mapping[str, tuple[int, int]] = {}
    skip_lines: tuple[int, ...] = ()
    comments: Mapping[int, str] = {}


class Pristine(Value):
    """Hold the tests of one file as `function` or `Class::method`, and which may be skipped."""

    path: str
    tests: tuple[str, ...]
    may_skip: frozenset[str] = frozenset()
    all_may_skip: bool = False

    @classmethod
    def of(cls, path: str, reading: SeedReading) -> Pristine:
        return cls(
            path=path,
            tests=reading.tests,
            may_skip=frozenset(reading.may_skip),
            all_may_skip=reading.all_may_skip,
        )

    def excuses(self, test: str) -> bool:
        """Tell whether the file itself lets a test be skipped or expected to fail."""
        return self.all_may_skip or test in self.may_skip

    def owns(self, node: str) -> bool:
        """Tell whether a pytest node id belongs to this file."""
        return node == self.path or node.startswith(f"{self.path}::")


def read_here(content: bytes) -> SeedReading:
    """Read one test file in Tilth's own interpreter."""
    return SeedReading.model_validate(seed_reading.read(content))


def function_of(node: str) -> str:
    """Give `Class::method` of a node id such as `tests/test_a.py::Class::method[1]`."""
    return node.partition("::")[2].partition("[")[0]

"""What a pristine seed test holds: which tests must run, and which of them may be skipped.

The reading itself is done by `in_target.seed_reading`, in whichever interpreter. Never imports or
runs a test.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ConfigDict

from tilth.base.values import Value
from tilth.gate.findings import NodeResult
from tilth.gate.in_target import seed_reading


class SeedReading(Value):
    """Hold what an interpreter reads in a test file; `error` says why it cannot.

    `marked` are tests with a mark that may skip them or expect them to fail, `skipping` the lines
    of each test that do so, `skip_lines` such lines anywhere in the file. `spans` are the lines of
    each test, `comments` all comments by their line.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    error: str | None = None
    tests: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    skipping: Mapping[str, tuple[int, ...]] = {}
    spans: Mapping[str, tuple[int, int]] = {}
    skip_lines: tuple[int, ...] = ()
    comments: Mapping[int, str] = {}

    def excuses(self, result: NodeResult) -> bool:
        """Tell whether a test was skipped, or expected to fail, by its own mark or line."""
        test = function_of(result.node)
        path, _, line = (result.place or "").rpartition(":")
        lines = map(str, self.skipping.get(test, ()))
        return test in self.marked or (path == file_of(result.node) and line in lines)


def read_here(content: bytes) -> SeedReading:
    """Read one test file in Tilth's own interpreter."""
    return SeedReading.model_validate(seed_reading.read(content))


def function_of(node: str) -> str:
    """Give `Class::method` of a node id such as `tests/test_a.py::Class::method[1]`."""
    return node.partition("::")[2].partition("[")[0]


def file_of(node: str) -> str:
    """Give the file of a node id, or of a function in it."""
    return node.partition("::")[0]

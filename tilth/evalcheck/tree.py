"""A case laid out on disk: its base, a change applied to it, and tests run on that.

Runs the suite's own code without a sandbox, as whoever proves a suite would run its tests. Decides
nothing: it says how programs ended, and others say what that proves.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tilth.base.values import Value
from tilth.config.ruff import PLAINLY_BROKEN
from tilth.evalcheck.cases import TESTS
from tilth.sandbox.removal import temporary_directory
from tilth.tools import require_ruff

TIMEOUT_S = 60.0

_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "--tb=short")
_RUFF = ("check", "--isolated", "--no-cache", "--quiet")
_RULES = f"--select={','.join(PLAINLY_BROKEN)}"
_STEERING = ("PYTHON", "PYTEST", "GIT_", "RUFF_")


class Ran(Value):
    """Hold how a program ended and what it said; no code means that it took too long."""

    code: int | None
    said: str


@dataclass(frozen=True)
class Tree:
    """Hold the directory of one tree, and how long a program may run in it."""

    root: Path
    timeout_s: float

    def lay(self, texts: Mapping[str, str], below: str = ".") -> None:
        """Write files."""
        for name, text in texts.items():
            path = self.root / below / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))

    def apply(self, patch: str) -> Ran:
        """Apply a change."""
        file = self.root.parent / "change.patch"
        file.write_bytes(patch.encode("utf-8"))
        return self._run(["git", "apply", "--whitespace=nowarn", str(file)])

    def lint(self) -> Ran:
        """Run ruff with the rules a project has that names none."""
        return self._run([str(require_ruff()), *_RUFF, _RULES, "."])

    def test(self, names: Sequence[str] = ()) -> Ran:
        """Run the named tests, or all: the project's, the change's own and those laid out."""
        targets = [f"{TESTS}/{name}" for name in names] or [TESTS]
        return self._run([sys.executable, *_PYTEST, *targets])

    def _run(self, command: Sequence[str]) -> Ran:
        # into a file: a process left behind by a test could hold a pipe open for ever
        with (self.root.parent / "said.txt").open("w+b") as said:
            try:
                code = subprocess.run(
                    command,
                    cwd=self.root,
                    env=_environment(self.root),
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    check=False,
                    timeout=self.timeout_s,
                ).returncode
            except subprocess.TimeoutExpired:
                code = None
            said.seek(0)
            return Ran(code=code, said=said.read().decode("utf-8", "replace"))


@contextmanager
def laid_out(base: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> Iterator[Tree]:
    """Lay a base out in a directory of its own, which is gone afterwards."""
    with temporary_directory("tilth-suite-") as folder:
        tree = Tree(folder / "tree", timeout_s)
        tree.lay(base)
        yield tree


def _environment(root: Path) -> dict[str, str]:
    """Give the caller's environment without what would steer Python, pytest, ruff or git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}
    return kept | {
        "PYTHONPATH": os.pathsep.join((str(root), str(root / "src"))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        # a temporary directory may lie inside a repository, whose root git would apply the patch to
        "GIT_CEILING_DIRECTORIES": str(root.parent),
    }

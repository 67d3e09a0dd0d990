"""Planted changes put through the real gate, as the worker's change would be.

Run as a program it writes what the gate said into the package, where `tilth eval-check` reads it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from support.flow_site import Site
from tilth.base.clock import SystemClock
from tilth.config.project import ProjectFacts
from tilth.contract.prd import Plan
from tilth.evalcheck.planted import RECORDED, Change, Pair, Proof, Record, pairs
from tilth.gate.findings import Baseline
from tilth.gate.gate import Gate
from tilth.git.commits import seed_message
from tilth.git.source import open_source
from tilth.git.workspace import Workspace
from tilth.sandbox.confinement import Access, Unconfined, environment
from tilth.tools import find_ruff

SESSION = "20261116-221530-a1b2c3"


def settled(text: str) -> str:
    """Give a validator's words without what differs from run to run."""
    return re.sub(r" in [0-9.]+s\b", " in 0.01s", text).strip()


class Bed:
    """One pair's task on a repository of its own, with its seed tests committed."""

    def __init__(self, root: Path, pair: Pair) -> None:
        self.pair = pair
        site = Site.make(root / "site", dict(pair.base))
        self.workspace = Workspace(
            open_source(site.repo), root / "workspace", SESSION, SystemClock()
        )
        self.workspace.create(self.workspace.source.head)
        seeds = root / "seed-tests"
        _write(seeds, pair.tests)
        files = {f"tests/{name}": text.encode() for name, text in pair.tests.items()}
        self.base = self.workspace.seed(files, seed_message(1, len(files), session=SESSION))
        (root / "scratch").mkdir()
        ruff = find_ruff()
        assert ruff is not None
        self.gate = Gate(
            workspace=self.workspace,
            seed_tests=seeds,
            confinement=Unconfined(),
            access=Access(writable=(self.workspace.path,)),
            env=environment(os.environ, home=root / "scratch"),
            python=Path(sys.executable),
            ruff=ruff,
            facts=ProjectFacts(),
            timeout_s=60,
            scratch=root / "scratch",
        )
        self.plan = Plan(tasks=(pair.task,))

    def baseline(self) -> Baseline:
        return self.gate.baseline(self.pair.task, self.plan, self.base)

    def prove(self, change: Change, baseline: Baseline) -> tuple[bool, Proof]:
        """Make a change in the worktree; tell whether it passes, and what is said about it."""
        self.workspace.restore(self.base)
        _write(self.workspace.path, change.files)
        tree = self.workspace.freeze(self.base).tree
        found = self.gate.validate(self.pair.task, self.plan, self.base, tree, baseline)
        diff = self.workspace.diff(self.base, tree)
        return found.passed, Proof(diff=diff, checks=settled(found.render()))

    def record(self) -> Record:
        """Prove both changes; neither may fail."""
        baseline = self.baseline()
        (wrong_passes, wrong), (right_passes, right) = (
            self.prove(change, baseline) for change in (self.pair.wrong, self.pair.right)
        )
        assert baseline.report is not None
        assert not baseline.report.passed
        assert wrong_passes
        assert right_passes
        return Record(red_to_green=settled(baseline.render()), wrong=wrong, right=right)


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@contextmanager
def bed(pair: Pair) -> Iterator[Bed]:
    with tempfile.TemporaryDirectory() as folder:
        yield Bed(Path(folder), pair)


def main() -> None:
    written = {}
    for pair in pairs():
        with bed(pair) as ground:
            written[str(pair.category)] = ground.record().model_dump(mode="json")
    target = Path(__file__).parents[2] / "tilth" / "evalcheck" / RECORDED
    target.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

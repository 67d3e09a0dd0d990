"""`make challenge`: challenge the passing tests of real projects on their own code.

Fetches source distributions from the package index, installs each into an environment of its own,
and treats every file of tests as acceptance tests of what stands there. All of it is right code, so
none may be refused; how many notice says what a challenge is worth.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.sources import fetch, install
from tilth.base.errors import UserError
from tilth.contract.prd import Task
from tilth.gate.challenged import Challenged
from tilth.gate.challenging import Challenger
from tilth.gate.export import Runtime, open_export
from tilth.gate.overlay import Overlay, Seeds, Trees
from tilth.gate.pytest_run import run_pytest
from tilth.gate.seed_files import read_expectations
from tilth.gate.seed_proof import Proof
from tilth.gate.steering import is_test_file
from tilth.git.kept_trees import copy_tree
from tilth.sandbox.confinement import Access, Unconfined, environment

PROJECTS = (
    *("itsdangerous", "toolz", "iniconfig", "python-slugify", "tabulate", "cachetools", "boltons"),
    *("click", "markupsafe", "inflection", "pluggy", "jinja2", "tomlkit"),
)
_NEEDS = ("pytest>=8", "freezegun", "pyyaml", "hypothesis", "pretend", "setuptools", "trio")
_TIMEOUT_S = 120.0


@dataclass
class Count:
    """Count the tests of one project."""

    name: str
    version: str = ""
    tests: int = 0
    noticed: int = 0
    plain: int = 0
    plain_noticed: int = 0
    refused: list[str] = field(default_factory=list)
    coarse: list[str] = field(default_factory=list)
    unnoticed: list[str] = field(default_factory=list)

    def row(self) -> str:
        """Give a row of a table: what was challenged, how much of it noticed and was refused."""
        share = 100 * self.noticed / max(self.tests, 1)
        plain = f"{self.plain_noticed} of {self.plain}"
        return (
            f"| {self.name} | {self.version} | {self.tests} | {self.noticed} ({share:.1f} %) "
            f"| {plain} | {len(self.coarse)} | {len(self.refused)} |"
        )


def challenged(source: Path, python: Path, scratch: Path) -> Iterator[tuple[Challenged, int, int]]:
    """Challenge one file of tests after another; with how many plain tests, and noticed ones."""
    runtime = Runtime(
        export=lambda tree, into: copy_tree(source, into),
        confinement=Unconfined(),
        access=Access(),
        env=environment(os.environ, home=scratch, path_first=python.parent),
        python=python,
        ruff=Path("ruff"),
        scratch=scratch,
        stands_for=(source,),
    )
    challenger = Challenger(runtime, _TIMEOUT_S, seconds=600, cores=2)
    for path in sorted(str(p.relative_to(source)) for p in source.rglob("*.py")):
        if not is_test_file(path):
            continue
        proof = _proof(source, path)
        try:
            with open_export(runtime, "", Overlay()) as export:
                end = run_pytest(export, (path,), proof.setup(), _TIMEOUT_S)
            found = challenger.seeds(proof, end)
        except UserError as error:
            sys.stderr.write(f"  {path}: {error}\n")
            continue
        yield found, *_plain(runtime, proof, found)


def _plain(runtime: Runtime, proof: Proof, found: Challenged) -> tuple[int, int]:
    expected = read_expectations(runtime, proof.seeds.own, _TIMEOUT_S)
    plain = {node for node, sites in expected.functions.items() if sites.plain}
    nodes = [node for node in found.tests if node.partition("[")[0] in plain]
    return len(nodes), len(set(nodes) & set(found.noticed))


def _proof(source: Path, path: str) -> Proof:
    files = [str(p.relative_to(source)) for p in source.rglob("*.py")]

    def read(name: str) -> bytes | None:
        file = source / name
        return file.read_bytes() if file.is_file() else None

    own: Mapping[str, bytes] = {path: read(path) or b""}
    seeds = Seeds(own=own, done={}, open_prefixes=(), all_prefixes=())
    config = ("tox.ini", "setup.cfg", "pyproject.toml", "pytest.ini")
    trees = Trees([*files, *(c for c in config if (source / c).is_file())], files, (), read, read)
    task = Task.model_validate(
        {"id": "T-001", "title": "t", "description": "d", "acceptance_criteria": ("a",)}
    )
    return Proof(task, "base", "tree", seeds, trees, Overlay())


def measure(name: str) -> Count:
    """Challenge one project."""
    with tempfile.TemporaryDirectory(prefix="tilth-challenge-") as place:
        root = Path(place)
        source = fetch(name, root)
        count = Count(name, source.name.rpartition("-")[2])
        python = install(source, root / "venv", *_NEEDS)
        (root / "scratch").mkdir()
        for found, plain, plain_noticed in challenged(source, python, root / "scratch"):
            count.tests += len(found.tests)
            count.noticed += len(found.noticed)
            count.plain += plain
            count.plain_noticed += plain_noticed
            count.refused += found.refused
            count.coarse += found.coarse
            count.unnoticed += found.unnoticed
        shutil.rmtree(root / "scratch", ignore_errors=True)
    return count


def main(names: tuple[str, ...]) -> int:
    """Print a row a project and one of the sums; 1 if right code was refused."""
    total = Count("all")
    sys.stdout.write(
        "| project | version | tests | noticed | plain noticed | small missed | refused |\n"
    )
    sys.stdout.write("|---|---|---|---|---|---|---|\n")
    for name in names or PROJECTS:
        try:
            count = measure(name)
        except (subprocess.CalledProcessError, ValueError, OSError) as error:
            sys.stderr.write(f"{name}: left out: {error}\n")
            continue
        sys.stdout.write(f"{count.row()}\n")
        sys.stdout.flush()
        blind = (f"unnoticed: {node}" for node in count.unnoticed)
        for said in (*count.refused, *count.coarse, *blind):
            sys.stderr.write(f"  {said}\n")
        for part in ("tests", "noticed", "plain", "plain_noticed"):
            setattr(total, part, getattr(total, part) + getattr(count, part))
        total.refused += count.refused
        total.coarse += count.coarse
    sys.stdout.write(f"{total.row()}\n")
    return 1 if total.refused else 0


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))

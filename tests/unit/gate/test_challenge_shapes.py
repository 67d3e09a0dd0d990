"""Tests of every shape, challenged: on right code none is refused, and each notices or is named."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.expectation_shapes import BESIDE, CALC, PLAIN, SILENT, UNNOTICED, shapes
from support.gate_project import task

from tilth.gate.challenged import Challenged
from tilth.gate.challenging import Challenger
from tilth.gate.export import Runtime, open_export
from tilth.gate.overlay import Overlay, Seeds, Trees
from tilth.gate.pytest_run import run_pytest
from tilth.gate.seed_proof import Proof
from tilth.git.kept_trees import copy_tree
from tilth.sandbox.confinement import Access, Unconfined, environment

HOW = {name: how for name, how, _ in shapes()}
FILES = {f"tests/test_s{n:02}.py": text for n, (_, _, text) in enumerate(shapes())}
"""By its path, the file of each shape."""


def challenged(root: Path, code: str) -> Challenged:
    """Challenge all shapes on some code."""
    source = root / "project"
    everything = {"calc.py": code, **BESIDE, **FILES}
    for path, text in everything.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(text, newline="")
    scratch = root / "scratch"
    scratch.mkdir()
    runtime = Runtime(
        export=lambda _, into: copy_tree(source, into),
        confinement=Unconfined(),
        access=Access(),
        env=environment(os.environ, home=root, path_first=Path(sys.executable).parent),
        python=Path(sys.executable),
        ruff=Path("ruff"),
        scratch=scratch,
    )
    proof = proven(everything)
    with open_export(runtime, "", Overlay()) as export:
        green = run_pytest(export, tuple(FILES), proof.setup(), 60)
    assert green.run is not None
    assert [each for each in green.run.results if each.ending != "passed"] == []
    return Challenger(runtime, 60, seconds=0, cores=2).seeds(proof, green)


def proven(everything: Mapping[str, str]) -> Proof:
    own = {path: everything[path].encode() for path in FILES}
    seeds = Seeds(own=own, done={}, open_prefixes=(), all_prefixes=())

    def read(path: str) -> bytes | None:
        return everything[path].encode() if path in everything else None

    trees = Trees(list(everything), list(everything), (), read, read)
    return Proof(task(), "base", "tree", seeds, trees, Overlay())


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Challenged:
    return challenged(tmp_path_factory.mktemp("right"), CALC)


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Challenged:
    return challenged(tmp_path_factory.mktemp("silent"), SILENT)


def nodes(found: tuple[str, ...], shape: str) -> list[str]:
    path = list(FILES)[list(HOW).index(shape)]
    return [node for node in found if node.startswith(path)]


def test_none_is_refused_on_right_code(right: Challenged) -> None:
    assert not right.refused


@pytest.mark.parametrize("shape", HOW)
def test_on_right_code_it_is_noticed_that_an_expectation_is_false_in(
    shape: str, right: Challenged
) -> None:
    tests = nodes(right.tests, shape)
    assert tests
    assert nodes(right.noticed, shape) == ([] if HOW[shape] == UNNOTICED else tests)


def test_where_nothing_is_computed_nothing_is_noticed(silent: Challenged) -> None:
    assert not silent.noticed
    assert set(silent.unnoticed) == set(silent.tests)


@pytest.mark.parametrize("shape", [name for name in HOW if HOW[name] == PLAIN])
def test_where_nothing_is_computed_it_is_refused(shape: str, silent: Challenged) -> None:
    [test] = nodes(silent.tests, shape)
    assert any(said.startswith(f"{test} stays green although") for said in silent.refused)

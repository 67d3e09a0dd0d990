"""Seed tests are read by the interpreter that runs them, whichever Tilth itself runs on."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gate_project import RIGHT, SEED, Project, report
from support.newer_pythons import Newer, newer_kinds

from tilth.base.errors import UserError
from tilth.gate.seed_files import read_seeds
from tilth.gate.shadowing import read_names
from tilth.interview.criteria import named_criteria
from tilth.interview.rules import text_problems

KINDS = newer_kinds()
TEST = "# AC-2\ndef test_add():\n    assert add(2, 3) == 5\n"


@pytest.fixture(params=KINDS)
def newer(request: pytest.FixtureRequest) -> Newer:
    return KINDS[request.param]


def test_syntax_that_only_the_targets_python_knows_is_read(tmp_path: Path, newer: Newer) -> None:
    text = f"{newer.line}\n\n\n{TEST}"
    project = Project(tmp_path / "p", {SEED: text})
    runtime = project.gate(python=newer.make(tmp_path / "newer")).runtime
    reading = read_seeds(runtime, {"test_t001_add.py": text.encode()}, 30.0)["test_t001_add.py"]
    assert reading.tests == ("test_add",)
    assert "does not parse" in text_problems("test_t001_add.py", text)[0]
    assert text_problems("test_t001_add.py", text, reading) == []
    assert named_criteria(text, reading) == {2}


def test_a_test_that_is_dropped_is_noticed_in_a_newer_python(tmp_path: Path, newer: Newer) -> None:
    seed = (
        f"{newer.line}\nimport calc\n\n\ndef test_one():\n    assert calc.add(1, 1) == 2\n\n\n"
        "def test_two():\n    assert calc.add(2, 3) == 5\n"
    )
    project = Project(tmp_path / "p", {SEED: seed})
    python = newer.make(tmp_path / "newer")
    # The product takes a test out of the file that imports it.
    drops = "import sys\n\n\ndef add(a, b):\n    return a + b\n\n\n"
    drops += "sys.setprofile(lambda f, *_: f.f_globals.pop('test_two', None))\n"
    found = report(project.tried({"calc.py": drops}, python=python), "pytest")
    assert not found.passed
    assert "test_t001_add.py::test_two: did not run" in found.output
    found = report(
        project.tried({"calc.py": RIGHT, SEED: f"{newer.line}\n"}, python=python), "pytest"
    )
    assert found.passed
    assert found.tests is not None
    assert found.tests["passed"] == 2


def test_an_interpreter_that_cannot_read_is_named_with_the_fix(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no library\necho of mine\nexit 3\n")
    broken.chmod(0o755)
    runtime = Project(tmp_path / "p", {SEED: TEST}).gate(python=broken).runtime
    for ask in (
        lambda: read_seeds(runtime, {"a.py": b""}, 30.0),
        lambda: read_names(runtime, 30.0),
    ):
        with pytest.raises(UserError) as caught:
            ask()
        assert "(no library of mine): set TILTH_PYTHON to" in str(caught.value)
        assert "\n" not in str(caught.value)

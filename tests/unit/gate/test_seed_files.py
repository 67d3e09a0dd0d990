"""Seed tests are read by the interpreter that runs them, whichever Tilth itself runs on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.gate_project import RIGHT, SEED, Project, report

from tilth.base.errors import UserError
from tilth.gate.seed_files import read_seeds
from tilth.interview.criteria import named_criteria
from tilth.interview.rules import text_problems

NEWER = "let ANSWER = 5\n\n\n# AC-2\ndef test_add():\n    assert add(2, 3) == ANSWER\n"


def newer_python(path: Path) -> Path:
    """Make an interpreter of a Python to come, which knows the statement `let`."""
    start = (
        "import ast, builtins, re, runpy, sys, tokenize\n"
        "plain, made = ast.parse, builtins.compile\n"
        "def known(text):\n"
        "    text = text if isinstance(text, str) else bytes(text).decode()\n"
        "    return re.sub('(?m)^let ', '', text)\n"
        "def parse(text, *a, **k):\n"
        "    return plain(known(text), *a, **k)\n"
        "def compiled(source, *a, **k):\n"
        "    text = isinstance(source, (str, bytes))\n"
        "    return made(known(source) if text else source, *a, **k)\n"
        "ast.parse = parse\nbuiltins.compile = compiled\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    (path.parent / "newer.py").write_text(start)
    real = f"{sys.executable} -I -B {path.parent}/newer.py"
    path.write_text(f'#!/bin/sh\nshift 2\nexec {real} "$@"\n')
    path.chmod(0o755)
    return path


def test_syntax_that_only_the_targets_python_knows_is_read(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", {SEED: NEWER})
    runtime = project.gate(python=newer_python(tmp_path / "python"))._runtime
    reading = read_seeds(runtime, {"test_t001_add.py": NEWER.encode()}, 30.0)["test_t001_add.py"]
    assert reading.tests == ("test_add",)
    assert "does not parse" in text_problems("test_t001_add.py", NEWER)[0]
    assert text_problems("test_t001_add.py", NEWER, reading) == []
    assert named_criteria(NEWER, reading) == {2}


def test_a_test_that_is_dropped_is_noticed_in_a_newer_python(tmp_path: Path) -> None:
    # The file leaves the test out as soon as the product says so.
    seed = (
        "let KEPT = 1\nimport calc\n\n\ndef test_one():\n    assert calc.add(1, 1) == 2\n\n\n"
        "def test_two():\n    assert calc.add(2, 3) == 5\n"
    )
    project = Project(tmp_path / "p", {SEED: seed})
    python = newer_python(tmp_path / "python")
    drops = "import sys\n\n\ndef add(a, b):\n    return a + b\n\n\n"
    drops += "sys._getframe(0).f_globals['seen'] = True\n"
    assert report(project.tried({"calc.py": drops}, python=python), "pytest").passed
    hides = RIGHT + "\n\nclass Gone:\n    __test__ = False\n"
    found = project.tried({"calc.py": hides, SEED: "let KEPT = 1\n"}, python=python)
    counts = report(found, "pytest").tests
    assert counts is not None
    assert counts["passed"] == 2


def test_an_interpreter_that_cannot_read_is_named_with_the_fix(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    runtime = Project(tmp_path / "p", {SEED: NEWER}).gate(python=broken)._runtime
    with pytest.raises(UserError, match="set TILTH_PYTHON"):
        read_seeds(runtime, {"a.py": b""}, 30.0)

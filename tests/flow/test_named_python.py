"""The Python that a user names: tried before a session is made."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.flow_site import Site, accept, solve, submit
from support.light_gate import LIGHT

from tilth.base.errors import UserError

PROGRAMS = {
    "says nothing": ("", "said nothing"),
    "says something else": ("echo 3.14", "(3.14)"),
    "fails": ("echo no such thing; exit 3", "exit 3: no such thing"),
    "has no pytest": (f'exec {sys.executable} -S "$@"', "it has no pytest"),
}


def program(place: Path, line: str) -> Path:
    path = place / "python"
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o700)
    return path


def ended(site: Site, python: Path) -> int:
    """Run a session with a Python of one's own; give its exit code."""
    calls = [solve(1), submit(1)]
    target = site.bundle(1)
    return site.run(target, worker=calls, evaluator=[accept()], TILTH_PYTHON=str(python)).code


@pytest.mark.parametrize(("line", "why"), PROGRAMS.values(), ids=list(PROGRAMS))
def test_a_program_that_can_run_no_test_is_refused_and_leaves_nothing(
    tmp_path: Path, line: str, why: str
) -> None:
    site, python = Site.make(tmp_path), program(tmp_path, line)
    with pytest.raises(UserError) as refused:
        site.run(site.bundle(1), worker=[], evaluator=[], TILTH_PYTHON=str(python))
    said = str(refused.value)
    assert said.startswith(f"TILTH_PYTHON must be a Python that has pytest, got '{python}'")
    assert why in said
    assert len(said.splitlines()) == 1
    assert not list(site.sessions.glob("*"))


def test_a_python_that_prints_at_its_start_is_taken(tmp_path: Path) -> None:
    python = program(tmp_path, f'echo welcome >&2; exec {sys.executable} "$@"')
    site = Site.make(tmp_path)
    assert ended(site, python) == 0


def test_where_no_test_is_run_no_pytest_is_wanted(tmp_path: Path) -> None:
    site = Site.make(tmp_path, {"pyproject.toml": LIGHT})
    python = program(tmp_path, PROGRAMS["has no pytest"][0])
    assert ended(site, python) == 0
    with pytest.raises(UserError, match="TILTH_PYTHON must be a Python, got '/bin/true'"):
        site.run(site.bundle(1), worker=[], evaluator=[], TILTH_PYTHON="/bin/true")

"""Which Python runs the tests, and which one a repository cannot make us run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.git.source import SourceRepo, open_source
from tilth.session.interpreter import find_python


def environment(place: Path) -> Path:
    """Make what a virtual environment on the system's own installation looks like."""
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "python").symlink_to("/usr/bin/env")
    (place / "pyvenv.cfg").write_text("home = /usr/bin\n")
    return place


@pytest.fixture
def source(tmp_path: Path) -> SourceRepo:
    return open_source(Repo(tmp_path / "repo").root)


def test_without_any_other_it_is_tilths_own(source: SourceRepo) -> None:
    found = find_python(None, source, ())
    assert (found.path, found.shown, found.note) == (Path(sys.executable), (), None)


def test_the_one_asked_for_comes_before_all(source: SourceRepo, tmp_path: Path) -> None:
    environment(source.root / ".venv")
    wanted = environment(tmp_path / "mine") / "bin" / "python"
    found = find_python(wanted, source, ())
    assert found.path == wanted
    assert wanted in found.shown


def test_one_that_setup_made_comes_before_the_repositorys_own(
    source: SourceRepo, tmp_path: Path
) -> None:
    own = environment(source.root / ".venv")
    assert find_python(None, source, ()).path == own / "bin" / "python"
    made = environment(tmp_path / "made")
    found = find_python(None, source, (), made=(made,))
    assert (found.path, found.shown, found.note) == (made / "bin" / "python", (made,), None)


def test_one_that_the_repository_tracks_is_not_run_and_that_is_said(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    repo.commit_files({".venv/note": "x"})
    environment(repo.root / ".venv")
    found = find_python(None, open_source(repo.root), ())
    assert found.path == Path(sys.executable)
    assert found.note is not None
    assert "it is tracked by git" in found.note
    assert f"set TILTH_PYTHON={repo.root}/.venv/bin/python" in found.note


def test_one_that_stands_on_a_hidden_place_is_passed_over_for_the_next(
    source: SourceRepo, tmp_path: Path
) -> None:
    made = environment(tmp_path / "made")
    (made / "pyvenv.cfg").write_text(f"home = {tmp_path}/home/bin\n")
    own = environment(source.root / ".venv")
    hidden = (tmp_path / "home",)
    assert find_python(None, source, hidden, made=(made,)).path == own / "bin" / "python"
    (own / "pyvenv.cfg").write_text(f"home = {tmp_path}/home/bin\n")
    found = find_python(None, source, hidden)
    assert found.path == Path(sys.executable)
    assert "hidden place" in (found.note or "")

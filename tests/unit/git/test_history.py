"""History: what landed reads the same through GitPython and through git itself."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from support.git_repo import SESSION, Repo

from tilth.base.errors import WorkspaceError
from tilth.git import history
from tilth.git.changes import ChangeSize
from tilth.git.history import open_history
from tilth.git.source import open_source

MESSAGE = f"""T-001: Title with: a colon (round 2)

What was done, in a paragraph of its own.

Tilth-Session: {SESSION}
Tilth-Task: T-001
Tilth-Task: T-002
Tilth-Verdict: accept
Tilth-Round: 2
Tilth-Quality: below-bar
"""
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo", {"gone.py": "x\n", "kept.py": "a\nb\n", ".gitattributes": ""})
    (repo.root / "gone.py").unlink()
    (repo.root / "kept.py").write_text("a\nc\nd\n")
    (repo.root / 'odd "name"\tä.py').write_text("1\n")
    (repo.root / "raw").write_bytes(b"\0\1\2")
    # Binary, or so it says: lines are counted all the same.
    (repo.root / ".gitattributes").write_text("*.py -diff\n")
    (repo.root / os.fsdecode(b"bad-\xff")).write_text("2\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", MESSAGE)
    return repo


def test_both_ways_read_the_same(repo: Repo) -> None:
    source = open_source(repo.root)
    head, first = repo.head(), repo.git("rev-parse", "HEAD^").strip()
    with open_history(source) as way:
        assert type(way) is history._ThroughGitPython
        plain = history._ThroughBinary(source)
        assert way.commit(head) == plain.commit(head)
        assert way.commit(first) == plain.commit(first)
        assert way.size(first, head) == plain.size(first, head)
        assert way.size(head, head) == plain.size(head, head) == ChangeSize()
        made, size = way.commit(head), way.size(first, head)
    assert (made.id, made.parent) == (head, first)
    assert made.tree == repo.git("rev-parse", "HEAD^{tree}").strip()
    assert made.subject == "T-001: Title with: a colon (round 2)"
    assert (made.session, made.task, made.tasks) == (SESSION, "T-002", ("T-001", "T-002"))
    assert (made.verdict, made.round, made.below_bar) == ("accept", 2, True)
    assert 'odd "name"\tä.py' in size.paths
    assert (size.added, size.deleted) == (5, 2)


def test_a_repository_of_the_newer_hash_is_read_through_git(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo", hashing="sha256")
    first = repo.head()
    (repo.root / "app.py").write_text("x = 1\ny = 2\n")
    repo.git("commit", "-q", "-a", "-m", MESSAGE)
    with open_history(open_source(repo.root)) as way:
        assert type(way) is history._ThroughBinary
        assert way.commit(repo.head()).tasks == ("T-001", "T-002")
        assert way.size(first, repo.head()) == ChangeSize(paths=("app.py",), added=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("GIT_DIR", "/nowhere"), ("GIT_CONFIG_COUNT", "0"), ("PATH", "bin:/usr/bin:/bin")],
)
def test_an_environment_that_leads_elsewhere_is_not_followed(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    source = open_source(repo.root)
    monkeypatch.setenv(name, value)
    with open_history(source) as way:
        assert type(way) is history._ThroughBinary
        assert way.commit(source.head).session == SESSION


def test_without_a_git_that_it_can_start_there_is_still_the_other_way(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "git", None)
    with open_history(open_source(repo.root)) as way:
        assert way.commit(repo.head()).session == SESSION


def test_what_is_not_there_is_an_error_of_ours_either_way(repo: Repo) -> None:
    source = open_source(repo.root)
    missing = "1" * 40
    with open_history(source) as through:
        for way in (through, history._ThroughBinary(source)):
            with pytest.raises(WorkspaceError):
                way.commit(missing)
            with pytest.raises(WorkspaceError):
                way.size(missing, repo.head())


def test_nothing_is_left_behind_and_nothing_is_written(repo: Repo, tmp_path: Path) -> None:
    before = repo.own_state()
    lent = tmp_path / "lent"
    lent.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(lent))
        with open_history(open_source(repo.root)) as way:
            way.commit(repo.head())
            way.size(EMPTY_TREE, repo.head())
            assert list(lent.iterdir())
    assert list(lent.iterdir()) == []
    assert repo.own_state() == before


def test_a_tree_is_no_commit(repo: Repo) -> None:
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    with (
        open_history(open_source(repo.root)) as way,
        pytest.raises(WorkspaceError, match="is no commit"),
    ):
        way.commit(tree)


def test_what_is_no_commit_is_read_to_its_end(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    tree = repo.git("rev-parse", "HEAD^{tree}").strip()
    with open_history(open_source(repo.root)) as way:
        try:
            way.commit(tree)
        except WorkspaceError as error:
            kept = error
    # Whoever keeps the error keeps the stream: it ends long after the repository was closed.
    assert kept.__context__ is not None
    del kept
    gc.collect()
    assert complaints == []

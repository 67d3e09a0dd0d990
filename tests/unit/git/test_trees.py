"""Tests of trees that are asked for again: a name in full is asked once, any other each time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.base.errors import WorkspaceError
from tilth.git import trees
from tilth.git.source import open_source

FILES = {
    "app.py": "x = 1\n",
    "pkg/mod.py": "y = 1\n",
    "pkg/deep/er.py": "z = 1\n",
    "pkg-more/mod.py": "z = 2\n",
    "pkg.py": "z = 3\n",
    os.fsdecode(b"caf\xe9.txt"): "bad name\n",
}
ASKED = (
    "app.py",
    "pkg",
    "pkg/deep",
    "pkg/mod.py",
    "pkg/deep/er.py",
    "pk",
    "app.py/x",
    "none",
    os.fsdecode(b"caf\xe9.txt"),
)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo", FILES)


def test_a_tree_that_is_known_answers_as_git_does(repo: Repo) -> None:
    source = open_source(repo.root)

    def answers(rev: str) -> list[object]:
        return [(trees.holds(source, rev, path), trees.read(source, rev, path)) for path in ASKED]

    asked = answers(repo.head())
    listed = trees.files(source, repo.head())

    assert answers(repo.head()) == asked
    assert answers(repo.head()[:16]) == asked
    assert [holds for holds, _ in asked] == [True] * 5 + [False] * 3 + [True]
    assert set(listed) >= {"app.py", "pkg/deep/er.py", "caf\\xe9.txt"}


def test_a_name_in_full_is_asked_once(repo: Repo) -> None:
    source, head = open_source(repo.root), repo.head()
    listed = trees.files(source, head)
    (repo.root / ".git" / "objects").rename(repo.root / ".git" / "aside")

    assert trees.files(source, head) == listed
    assert not trees.holds(source, head, "none")


def test_a_name_that_is_not_in_full_is_asked_every_time(repo: Repo) -> None:
    source, short = open_source(repo.root), repo.head()[:16]
    assert "app.py" in trees.files(source, short)
    (repo.root / ".git" / "objects").rename(repo.root / ".git" / "aside")

    with pytest.raises(WorkspaceError, match="ls-tree"):
        trees.files(source, short)


def test_a_large_tree_is_not_kept(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "LARGEST_KEPT", len(FILES) - 1)
    source, head = open_source(repo.root), repo.head()
    trees.files(source, head)
    (repo.root / ".git" / "objects").rename(repo.root / ".git" / "aside")

    with pytest.raises(WorkspaceError, match="ls-tree"):
        trees.files(source, head)


def test_only_the_last_few_trees_are_kept(repo: Repo) -> None:
    source, first = open_source(repo.root), repo.head()
    trees.files(source, first)
    for number in range(trees.MOST_KEPT):
        last = repo.commit_files({"app.py": f"x = 1{number}\n"})
        trees.files(source, last)
    (repo.root / ".git" / "objects").rename(repo.root / ".git" / "aside")

    assert "app.py" in trees.files(source, last)
    with pytest.raises(WorkspaceError, match="ls-tree"):
        trees.files(source, first)

"""Tests of trees that are asked for again: a name in full is asked once, any other each time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.git_repo import Repo

from tilth.base.errors import WorkspaceError
from tilth.git import trees
from tilth.git.command import Git
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


def test_one_question_about_a_path_answers_the_next_about_another(repo: Repo) -> None:
    source, head = open_source(repo.root), repo.head()
    assert trees.holds(source, head, "app.py")
    (repo.root / ".git" / "objects").rename(repo.root / ".git" / "aside")

    assert trees.holds(source, head, "pkg/mod.py")


class Noting(Git):
    """Run git, and note the path that was asked for."""

    asked: ClassVar[list[str]] = []

    def run(self, *args: str, **how: Any) -> bytes:
        self.asked.append(args[-1])
        return super().run(*args, **how)


def test_a_large_tree_is_listed_once_and_then_asked_for_a_path_alone(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "LARGEST_KEPT", len(FILES) - 1)
    git_dir, head = repo.root / ".git", repo.head()
    git = Noting(git_dir, git_dir)
    for path in ("pkg/deep", "app.py"):
        assert len(trees.tree_entries(git, head, path)) == 1
    assert git.asked == ["--", "app.py"]


def test_trees_that_are_known_differ_as_git_says(repo: Repo) -> None:
    source, base = open_source(repo.root), repo.head()
    app = repo.root / "app.py"
    app.unlink()
    app.symlink_to("pkg.py")
    (repo.root / "pkg.py").unlink()
    (repo.root / "pkg" / "mod.py").chmod(0o755)
    (repo.root / "pkg-more" / "mod.py").rename(repo.root / "pkg-more.py")
    (repo.root / "pkg.py").mkdir()
    tip = repo.commit_files({"pkg.py/inner.py": "z = 3\n", "new": "n\n"})

    asked = trees.changes(source, base, tip)
    trees.files(source, base), trees.files(source, tip)
    (repo.root / ".git" / "objects").rename(repo.root / ".git" / "aside")

    assert trees.changes(source, base, tip) == asked
    assert {change.status for change in asked} == {"A", "M", "D", "T"}


def test_a_diff_of_names_in_full_is_asked_once(repo: Repo) -> None:
    source, base = open_source(repo.root), repo.head()
    tip = repo.commit_files({"app.py": "x = 2\n"})
    asked = trees.diff(source, base, tip)
    trees.tree_of(source, tip)
    again = trees.diff(source, base, tip)
    (repo.root / ".git" / "objects").rename(repo.root / ".git" / "aside")

    assert asked == again == trees.diff(source, base, tip)
    assert "+x = 2" in asked
    assert trees.diff(source, base, trees.tree_of(source, tip)) == asked
    with pytest.raises(WorkspaceError, match="diff-tree"):
        trees.diff(source, base[:16], tip)


def test_a_long_diff_is_not_kept(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "LARGEST_KEPT_DIFF", 10)
    source, base = open_source(repo.root), repo.head()
    tip = repo.commit_files({"app.py": "x = 2\n"})
    trees.diff(source, base, tip)
    (repo.root / ".git" / "objects").rename(repo.root / ".git" / "aside")

    with pytest.raises(WorkspaceError, match="diff-tree"):
        trees.diff(source, base, tip)


def test_the_tree_of_a_branch_is_asked_every_time(repo: Repo) -> None:
    source = open_source(repo.root)
    before = trees.tree_of(source, "main")
    repo.commit_files({"app.py": "x = 2\n"})
    assert trees.tree_of(source, "main") != before


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

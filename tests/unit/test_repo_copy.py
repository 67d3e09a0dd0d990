"""Repositories that tests copy: each is clean, and none knows of another."""

from __future__ import annotations

from pathlib import Path

from support.git_repo import Repo


def test_a_copy_is_as_clean_as_a_new_checkout(tmp_path: Path) -> None:
    for name in ("first", "second"):
        repo = Repo(tmp_path / name)
        # Plumbing takes a file's inode and times at their word.
        assert repo.git("diff-files") == repo.git("diff-index", "HEAD") == ""
        assert repo.git("status", "--porcelain") == ""


def test_what_is_done_to_one_copy_is_not_seen_in_the_next(tmp_path: Path) -> None:
    first = Repo(tmp_path / "first")
    head = first.head()
    first.commit_files({"app.py": "x = 2\n"})
    second = Repo(tmp_path / "second")
    assert second.head() == head
    assert (second.root / "app.py").read_text() == "x = 1\n"


def test_other_content_makes_another_repository(tmp_path: Path) -> None:
    plain = Repo(tmp_path / "plain")
    other = Repo(tmp_path / "other", {"app.py": "x = 3\n"})
    hashed = Repo(tmp_path / "hashed", hashing="sha256")
    assert len({plain.head(), other.head(), hashed.head()}) == 3
    assert len(hashed.head()) == 64

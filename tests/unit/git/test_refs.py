"""Tests of refs: their files are read as git reads them, and git is asked where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.base.errors import UserError, WorkspaceError
from tilth.git.command import Git
from tilth.git.refs import resolve

REF = "refs/heads/session/one"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def ask(repo: Repo, ref: str = REF) -> str | None:
    git_dir = repo.root / ".git"
    return resolve(Git(git_dir, git_dir), ref, repo.head())


@pytest.mark.parametrize("hashing", ["sha1", "sha256"])
def test_a_ref_with_a_file_needs_no_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hashing: str
) -> None:
    repo = Repo(tmp_path / "hashed", hashing=hashing)
    repo.git("update-ref", REF, "HEAD")
    head, git_dir = repo.head(), repo.root / ".git"
    monkeypatch.setenv("PATH", str(tmp_path))

    assert resolve(Git(git_dir, git_dir), REF, head) == head
    assert resolve(Git(git_dir, git_dir), "refs/heads/none", head) is None
    assert resolve(Git(git_dir, git_dir), "refs/heads/session", head) is None


def test_a_ref_is_read_anew_each_time(repo: Repo) -> None:
    assert ask(repo) is None
    repo.git("update-ref", REF, "HEAD")
    first = ask(repo)
    second = repo.commit_files({"app.py": "x = 2\n"})
    assert (first, ask(repo)) == (repo.git("rev-parse", "HEAD^").strip(), first)
    repo.git("update-ref", REF, second)
    assert ask(repo) == second
    repo.git("update-ref", "-d", REF)
    assert ask(repo) is None


def test_a_packed_ref_is_asked_of_git(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.git("update-ref", REF, "HEAD")
    repo.git("pack-refs", "--all")
    head, git_dir = repo.head(), repo.root / ".git"
    assert not (git_dir / REF).exists()
    assert ask(repo) == head
    assert ask(repo, "refs/heads/none") is None

    newer = repo.commit_files({"app.py": "x = 2\n"})
    repo.git("update-ref", REF, newer)
    assert ask(repo) == newer

    monkeypatch.setenv("PATH", str(repo.root))
    with pytest.raises(UserError, match="git is not on PATH"):
        resolve(Git(git_dir, git_dir), "refs/heads/none", head)


def test_a_ref_that_names_another_leads_to_its_commit(repo: Repo) -> None:
    repo.git("symbolic-ref", REF, "refs/heads/main")
    assert ask(repo) == repo.head()


def test_a_file_that_is_a_link_is_left_to_git(repo: Repo) -> None:
    file = repo.root / ".git" / REF
    file.parent.mkdir()
    file.symlink_to("refs/heads/main")
    assert ask(repo) == repo.head()


@pytest.mark.parametrize("said", ["", "none\n", "0" * 39 + "\n", "1" * 64 + "\n"])
def test_a_broken_file_is_no_commit(repo: Repo, said: str) -> None:
    file = repo.root / ".git" / REF
    file.parent.mkdir()
    file.write_text(said)
    assert ask(repo) is None


def test_a_directory_without_refs_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="rev-parse"):
        resolve(Git(tmp_path, tmp_path), REF, "0" * 40)


def test_a_place_whose_refs_are_kept_otherwise_is_asked(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_dir = repo.root / ".git"
    (git_dir / "reftable").mkdir()
    monkeypatch.setenv("PATH", str(repo.root))
    with pytest.raises(UserError, match="git is not on PATH"):
        resolve(Git(git_dir, git_dir), REF, "0" * 40)


def test_a_pipe_in_the_place_of_a_ref_is_not_waited_for(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    git_dir = repo.root / ".git"
    (git_dir / REF).parent.mkdir()
    os.mkfifo(git_dir / REF)
    monkeypatch.setenv("PATH", str(repo.root))
    with pytest.raises(UserError, match="git is not on PATH"):
        resolve(Git(git_dir, git_dir), REF, "0" * 40)

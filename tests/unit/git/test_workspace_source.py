"""Opening the source repository: found as git finds it, refused with the fix."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.base.errors import UserError
from tilth.git.source import is_dirty, open_source


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def test_a_repository_is_found_from_below(repo: Repo) -> None:
    source = open_source(repo.root / "pkg")
    assert source.root == repo.root
    assert source.git_dir == repo.root / ".git"
    assert source.head == repo.head()
    assert not is_dirty(source)


def test_a_link_to_a_directory_inside_is_followed(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo.root / "pkg")
    assert open_source(tmp_path / "link").root == repo.root


def test_a_changed_tracked_file_makes_it_dirty(repo: Repo) -> None:
    (repo.root / "app.py").write_text("x = 2\n")
    before = repo.own_state()
    assert is_dirty(open_source(repo.root))
    assert repo.own_state() == before


def test_a_staged_change_makes_it_dirty(repo: Repo) -> None:
    (repo.root / "app.py").write_text("x = 2\n")
    repo.git("add", "app.py")
    assert is_dirty(open_source(repo.root))


def test_a_touched_file_and_an_untracked_one_do_not(repo: Repo) -> None:
    os.utime(repo.root / "app.py", (1, 1))
    (repo.root / "new.py").touch()
    assert not is_dirty(open_source(repo.root))


def test_a_checkout_with_converted_line_endings_is_clean(repo: Repo) -> None:
    repo.commit_files({".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\n"})
    (repo.root / "a.txt").unlink()
    repo.git("checkout", "a.txt")
    os.utime(repo.root / "a.txt", (1, 1))
    assert (repo.root / "a.txt").read_bytes() == b"one\r\n"
    assert not is_dirty(open_source(repo.root))


def test_a_split_index_is_read(repo: Repo) -> None:
    repo.git("update-index", "--split-index")
    assert list((repo.root / ".git").glob("sharedindex.*"))
    assert not is_dirty(open_source(repo.root))


def test_a_filter_is_not_run_to_tell_whether_it_is_dirty(repo: Repo, tmp_path: Path) -> None:
    repo.commit_files({".gitattributes": "*.py filter=evil\n"})
    repo.git("config", "filter.evil.clean", f"touch {tmp_path}/mark; cat")
    repo.git("config", "core.fsmonitor", f"touch {tmp_path}/mark; false")
    (repo.root / "app.py").write_text("x = 2\n")
    assert is_dirty(open_source(repo.root))
    assert not (tmp_path / "mark").exists()


def test_a_merge_in_progress_is_fine(repo: Repo) -> None:
    (repo.root / ".git" / "MERGE_HEAD").write_text(repo.head() + "\n")
    assert open_source(repo.root).head == repo.head()


def test_a_linked_worktree_shares_its_repository(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "feature")
    source = open_source(tmp_path / "linked")
    assert source.root == tmp_path / "linked"
    assert source.git_dir == repo.root / ".git"


def test_a_worktree_of_a_bare_repository_can_be_worked_on(repo: Repo, tmp_path: Path) -> None:
    bare = tmp_path / "store.git"
    repo.git("clone", "-q", "--bare", str(repo.root), str(bare))
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "feature", cwd=bare)
    linked = Repo.at(tmp_path / "linked")
    work = linked.started()
    assert (work.path / "app.py").read_text() == "x = 1\n"
    assert work.freeze(linked.head()).tree == repo.git("rev-parse", "HEAD^{tree}").strip()
    assert work.remove().registration


def test_a_users_look_at_a_session_branch_is_no_hindrance(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "session/20250101-000000-aaaaaa")
    assert open_source(repo.root).head == repo.head()


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        open_source(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_session_worktree_is_refused(repo: Repo) -> None:
    work = repo.started()
    assert "a session's own worktree: name the repository" in refusal(work.path)


def test_what_is_no_directory_is_refused(repo: Repo) -> None:
    assert "is not a directory" in refusal(repo.root / "app.py")
    assert "is not a directory" in refusal(repo.root / "missing")


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    assert "run `git init` there and commit first" in refusal(tmp_path)


def test_a_bare_repository_is_refused(repo: Repo, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare"))
    assert "clone it and name the clone" in refusal(tmp_path / "bare")


def test_a_git_directory_is_refused(repo: Repo) -> None:
    assert "name the checkout" in refusal(repo.root / ".git" / "refs")


def test_a_repository_without_a_commit_is_refused(tmp_path: Path, repo: Repo) -> None:
    repo.git("init", "-q", str(tmp_path / "fresh"))
    assert "has no commit yet: commit something first" in refusal(tmp_path / "fresh")


def test_a_broken_repository_is_refused_with_gits_reason(repo: Repo) -> None:
    (repo.root / ".git" / "config").write_text("[core\n")
    assert "git cannot read the repository" in refusal(repo.root)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_repository_of_another_user_is_refused_until_the_user_trusts_it(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for path in (repo.root, repo.root / ".git"):
        shutil.chown(path, 12345, 12345)
    assert f"git config --global --add safe.directory {repo.root}" in refusal(repo.root)
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {repo.root}\n")
    source = open_source(repo.root)
    assert len(source.head) == 40


@pytest.mark.parametrize("name", ["refs/heads/HEAD", "refs/tags/HEAD"])
def test_a_ref_that_is_itself_called_head_does_not_hide_the_branch(repo: Repo, name: str) -> None:
    repo.git("update-ref", name, "HEAD")
    head = repo.commit_files({"app.py": "x = 2\n"})
    source = open_source(repo.root)
    assert (source.head, source.branch) == (head, "main")


def test_a_head_on_no_branch_names_none(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    source = open_source(repo.root)
    assert (source.head, source.branch) == (repo.head(), None)

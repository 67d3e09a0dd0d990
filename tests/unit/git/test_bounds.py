"""git is never waited for where it would wait for ever, and never held whole where it is huge."""

from __future__ import annotations

import os
import socket
import tracemalloc
from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.base.errors import UserError, WorkspaceError
from tilth.git import trees
from tilth.git.source import open_source


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo", {"a.txt": "one\n"})


@pytest.mark.parametrize(
    "config",
    [
        "[include]\n\tpath = ../pipe\n",
        '[include] path = "../pipe"\n',
        '[includeIf "gitdir:**"]\n\tpath = plain\n',
    ],
)
def test_a_pipe_in_the_configuration_is_refused_at_once(repo: Repo, config: str) -> None:
    git_dir = repo.root / ".git"
    os.mkfifo(repo.root / "pipe")
    (git_dir / "plain").write_text("[include]\n\tpath = ../pipe\n")
    with (git_dir / "config").open("a") as file:
        file.write(config)
    with pytest.raises(UserError, match=r"pipe is no plain file, but git's configuration"):
        open_source(repo.root)


@pytest.mark.parametrize(
    "name",
    [
        *("HEAD", "packed-refs", "commondir", "shallow", "index", "MERGE_HEAD"),
        *("info/attributes", "info/exclude", "info/grafts", "refs/heads/main"),
        *("objects/info/alternates", "objects/info/commit-graph", "objects/pack/multi-pack-index"),
    ],
)
def test_a_pipe_where_git_reads_a_file_is_refused_at_once(repo: Repo, name: str) -> None:
    path = repo.root / ".git" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with pytest.raises(UserError, match=rf"{name} is no plain file, but stands where git reads"):
        open_source(repo.root)


def test_a_pipe_is_found_by_a_link_in_a_worktree_and_in_a_borrowed_store(
    repo: Repo, tmp_path: Path
) -> None:
    git_dir, linked, store = repo.root / ".git", tmp_path / "linked", tmp_path / "store"
    repo.git("worktree", "add", str(linked))
    (store / "info").mkdir(parents=True)
    os.mkfifo(store / "info" / "alternates")
    (git_dir / "objects" / "info" / "alternates").write_text(f"{store}\n")
    for checkout in (repo.root, linked):
        with pytest.raises(UserError, match=r"store/info/alternates is no plain file"):
            open_source(checkout)
    (git_dir / "packed-refs").symlink_to(store / "info" / "alternates")
    with pytest.raises(UserError, match=r"packed-refs is no plain file"):
        open_source(linked)


def test_a_socket_is_no_obstacle(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root / ".git")
    with socket.socket(socket.AF_UNIX) as watcher:
        watcher.bind("fsmonitor--daemon.ipc")
        assert open_source(repo.root).root == repo.root


def test_an_include_that_is_a_file_or_missing_is_no_obstacle(repo: Repo) -> None:
    git_dir = repo.root / ".git"
    (git_dir / "plain").write_text("[user]\n\tname = A\n")
    with (git_dir / "config").open("a") as file:
        file.write("[include]\n\tpath = plain\n\tpath = missing\n[alias]\n\tpath = /dev/zero\n")
    assert open_source(repo.root).root == repo.root


def test_a_huge_diff_is_cut_and_costs_little_memory(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "MOST_DIFF", 100_000)
    source = open_source(repo.root)
    cuts = []
    for last in ("x", "y"):
        (repo.root / "big.txt").write_text("some words\n" * 2_000_000 + last)
        repo.git("add", "--all")
        tree = repo.git("write-tree").strip()
        tracemalloc.start()
        cuts.append(trees.diff(source, source.head, tree))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 5_000_000
    assert all(cut.startswith("diff --git a/big.txt b/big.txt") for cut in cuts)
    assert all("more bytes; sha256 of the whole diff " in cut for cut in cuts)
    assert cuts[0] != cuts[1]


def test_a_diff_that_fails_says_why(repo: Repo) -> None:
    source = open_source(repo.root)
    with pytest.raises(WorkspaceError, match="git diff-tree failed"):
        trees.diff(source, source.head, "0" * 40)

"""git is never waited for where it would wait for ever, and never held whole where it is huge."""

from __future__ import annotations

import os
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
        "[include]\n\tpath = pipe\n",
        '[include] path = "pipe"\n',
        '[includeIf "gitdir:**"]\n\tpath = plain\n',
    ],
)
def test_a_pipe_in_the_configuration_is_refused_at_once(repo: Repo, config: str) -> None:
    git_dir = repo.root / ".git"
    os.mkfifo(git_dir / "pipe")
    (git_dir / "plain").write_text("[include]\n\tpath = pipe\n")
    with (git_dir / "config").open("a") as file:
        file.write(config)
    with pytest.raises(UserError, match=r"pipe is no plain file, but git's configuration"):
        open_source(repo.root)


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

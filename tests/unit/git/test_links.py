"""Where the links of a tree lead to."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.git.links import links
from tilth.git.source import open_source


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo", {"data/golden/g.json": "5\n", "tests/test_a.py": ""})


def committed(repo: Repo, said: dict[str, str]) -> str:
    for path, target in said.items():
        link = repo.root / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(target)
    repo.commit_files({"more.txt": ""})
    return repo.head()


def test_a_link_leads_to_a_path_of_the_tree_over_others_and_through_them(repo: Repo) -> None:
    said = {
        "tests/golden": "../data/golden",
        "tests/g.json": "golden/g.json",
        "tests/again": "../there/golden",
        "there": "data",
        "elsewhere": "data",
    }
    rev = committed(repo, said)
    assert links(open_source(repo.root), rev, "tests") == {
        "tests/again": "data/golden",
        "tests/g.json": "data/golden/g.json",
        "tests/golden": "data/golden",
    }


def test_what_leads_out_to_all_or_in_a_circle_leads_nowhere(repo: Repo) -> None:
    said = {"tests/out": "../../x", "tests/root": "/etc", "tests/all": "..", "tests/me": "me"}
    rev = committed(repo, said)
    assert links(open_source(repo.root), rev, "tests") == {}


def test_a_tree_without_links_has_none(repo: Repo) -> None:
    assert links(open_source(repo.root), repo.head(), "tests") == {}

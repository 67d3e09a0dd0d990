"""A repository of ours that borrows another's objects, wherever that one stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.git_repo import Repo

from tilth.git import trees
from tilth.git.borrowed import borrow
from tilth.git.source import open_source


@pytest.mark.parametrize("name", ["plain", "two\nlines", 'a "quoted"\n\\ name', "é\n"])
def test_objects_are_found_whatever_the_path_holds(tmp_path: Path, name: str) -> None:
    repo = Repo(tmp_path / name)
    repo.commit_files({"a.py": "x = 1\n"})
    source = open_source(repo.root)
    own = borrow(source, source.head, tmp_path / "own")
    assert trees.holds(own, source.head, "a.py")

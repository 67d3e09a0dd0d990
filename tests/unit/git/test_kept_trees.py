"""A tree that is kept is exported once, and whoever asks gets a copy of his own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tilth.git.kept_trees import KeptTrees


class Counting:
    """Be a source of trees of one file, and note what was exported."""

    def __init__(self) -> None:
        self.exported: list[str] = []

    def export(self, tree: str, into: Path) -> None:
        self.exported.append(tree)
        (into / "name").write_text(tree)
        (into / "link").symlink_to("name")

    def tree_of(self, rev: str) -> str:
        return rev.removeprefix("commit of ")

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def test_a_tree_is_exported_once_for_all_who_run_something_on_it(tmp_path: Path) -> None:
    trees = Counting()
    kept = KeptTrees(trees, tmp_path / "deep" / "scratch")
    place = kept.keep("a")
    assert kept.keep("a") == place
    for number in range(2):
        into = tmp_path / f"copy{number}"
        into.mkdir()
        kept.export("a", into)
        assert (into / "name").read_text() == "a"
        (into / "name").write_text("changed")
        assert (into / "link").is_symlink()
    assert (place / "name").read_text() == "a"
    assert trees.exported == ["a"]


def test_another_tree_takes_its_place_and_a_lost_one_is_made_again(tmp_path: Path) -> None:
    trees = Counting()
    kept = KeptTrees(trees, tmp_path / "scratch")
    place = kept.keep("a")
    (place / "stray").touch()
    assert (kept.keep("b") / "name").read_text() == "b"
    assert not (place / "stray").exists()
    place.rename(tmp_path / "away")
    kept.keep("b")
    other = tmp_path / "other"
    other.mkdir()
    kept.export("a", other)
    assert (other / "name").read_text() == "a"
    assert trees.exported == ["a", "b", "b", "a"]


def test_a_commit_of_the_kept_tree_needs_no_export(tmp_path: Path) -> None:
    trees = Counting()
    kept = KeptTrees(trees, tmp_path / "scratch")
    kept.keep("a")
    for name in ("commit of a", "commit of b"):
        (tmp_path / name).mkdir()
        kept.export(name, tmp_path / name)
    assert (tmp_path / "commit of a" / "name").read_text() == "a"
    assert trees.exported == ["a", "commit of b"]

"""The removal of directories that a command has filled to be in the way."""

from __future__ import annotations

import os
from pathlib import Path

from tilth.sandbox.removal import remove_tree, temporary_directory

DEPTH = 2500


def nest(place: Path) -> None:
    """Nest directories deeper than a path can name or a call can recurse."""
    at = os.open(place, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("d", dir_fd=at)
        deeper = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = deeper
    os.close(os.open("file", os.O_CREAT, dir_fd=at))
    os.close(at)


def test_directories_of_any_depth_are_removed_and_leave_nothing_beside_them(tmp_path: Path) -> None:
    place = tmp_path / "deep"
    place.mkdir()
    nest(place)
    (place / "link").symlink_to(tmp_path)

    remove_tree(place)

    assert list(tmp_path.iterdir()) == []


def test_a_closed_directory_is_removed_and_no_link_is_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    closed = tmp_path / "place" / "closed"
    closed.mkdir(parents=True)
    (closed / "link").symlink_to(kept)
    closed.chmod(0)

    remove_tree(tmp_path / "place")

    assert [path.name for path in tmp_path.rglob("*")] == ["kept", "file"]


def test_a_temporary_directory_goes_away_whatever_was_put_into_it(tmp_path: Path) -> None:
    with temporary_directory("for-a-test-", tmp_path) as place:
        nest(place)

    assert list(tmp_path.iterdir()) == []

"""The fingerprint of a worktree: what its files say, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tilth.git.fingerprint import Contents


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text("x = 1\n")
    (tmp_path / "b.txt").write_text("hello\n")
    return tmp_path


@pytest.fixture
def contents(tree: Path) -> Contents:
    return Contents(tree)


def test_it_stays_the_same_while_nothing_changes(contents: Contents) -> None:
    first = contents.fingerprint()
    assert first is not None
    assert contents.fingerprint() == first


def test_a_file_rewritten_with_the_same_content_is_unchanged(
    tree: Path, contents: Contents
) -> None:
    first = contents.fingerprint()
    (tree / "pkg" / "a.py").write_text("x = 1\n")
    (tree / "b.txt").unlink()
    (tree / "b.txt").write_text("hello\n")
    os.utime(tree / "b.txt", (1, 1))
    assert contents.fingerprint() == first


def test_two_lookers_at_the_same_content_agree(tree: Path, contents: Contents) -> None:
    assert contents.fingerprint() == Contents(tree).fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: (tree / "pkg" / "a.py").write_text("x = 2\n"),
        lambda tree: (tree / "new.py").write_text(""),
        lambda tree: (tree / "b.txt").unlink(),
        lambda tree: (tree / "b.txt").rename(tree / "c.txt"),
        lambda tree: (tree / "b.txt").chmod(0o755),
        lambda tree: (tree / "link").symlink_to("b.txt"),
    ],
    ids=["edit", "add", "remove", "rename", "executable", "link"],
)
def test_every_change_of_content_is_seen(tree: Path, contents: Contents, change: object) -> None:
    first = contents.fingerprint()
    assert callable(change)
    change(tree)
    assert contents.fingerprint() not in (None, first)


def test_an_edit_of_the_same_size_at_the_same_moment_is_seen(
    tree: Path, contents: Contents
) -> None:
    file = tree / "b.txt"
    first = contents.fingerprint()
    before = file.stat()
    with file.open("r+") as handle:
        handle.write("HELLO")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert contents.fingerprint() != first


def test_going_back_to_an_earlier_content_gives_the_earlier_fingerprint(
    tree: Path, contents: Contents
) -> None:
    first = contents.fingerprint()
    (tree / "b.txt").write_text("other\n")
    contents.fingerprint()
    (tree / "b.txt").write_text("hello\n")
    assert contents.fingerprint() == first


@pytest.mark.parametrize(
    "path",
    [
        ".git/index",
        "pkg/__pycache__/a.cpython-311.pyc",
        ".pytest_cache/v/lastfailed",
        ".ruff_cache/x",
        ".mypy_cache/x",
        ".venv/lib/x.py",
        "env/pyvenv.cfg",
        "node_modules/x.js",
        ".coverage",
        "pkg/a.pyc",
    ],
)
def test_caches_and_environments_do_not_count(tree: Path, contents: Contents, path: str) -> None:
    first = contents.fingerprint()
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text("new")
    assert contents.fingerprint() == first


def test_in_a_large_tree_every_change_is_seen_without_reading_it_whole(tree: Path) -> None:
    later = Contents(tree, most_read=1, now_ns=lambda: time.time_ns() + 10**9)
    first = later.fingerprint()
    assert first is not None
    assert later.fingerprint() == first
    path = next(path for path in sorted(tree.rglob("*")) if path.is_file())
    old = path.read_bytes()
    path.write_bytes(old + b"more")
    changed = later.fingerprint()
    assert changed != first
    # From its first change on a file is known by what it says.
    path.write_bytes(old + b"more")
    assert later.fingerprint() == changed


def test_a_tree_that_is_too_large_has_none_and_is_not_walked_again(tree: Path) -> None:
    contents = Contents(tree, most_files=1)
    assert contents.fingerprint() is None
    (tree / "b.txt").unlink()
    assert contents.fingerprint() is None

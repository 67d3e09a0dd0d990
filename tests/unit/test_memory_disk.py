"""Tests of where the tests themselves put their files."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import memory_disk


@pytest.fixture(autouse=True)
def _temporary_place_as_it_was() -> Iterator[None]:
    before = tempfile.tempdir
    yield
    tempfile.tempdir = before


def test_files_go_where_somebody_said(tmp_path: Path) -> None:
    environ = {"TMPDIR": "/somewhere"}

    memory_disk.use(environ, tmp_path, room=1)

    assert environ == {"TMPDIR": "/somewhere"}
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_not_there_or_too_small_is_left_alone(tmp_path: Path) -> None:
    environ: dict[str, str] = {}

    memory_disk.use(environ, tmp_path / "none", room=1)
    memory_disk.use(environ, tmp_path, room=1024**6)

    assert environ == {}
    assert list(tmp_path.iterdir()) == []


def test_a_place_with_room_gets_a_directory_for_us_alone(tmp_path: Path) -> None:
    environ: dict[str, str] = {}

    memory_disk.use(environ, tmp_path, room=1)

    [made] = tmp_path.iterdir()
    assert environ == {"TMPDIR": str(made)}
    assert made.stat().st_mode & 0o777 == 0o700
    assert made.stat().st_uid == os.getuid()


def test_what_stands_there_under_that_name_and_is_no_directory_is_left_alone(
    tmp_path: Path,
) -> None:
    environ: dict[str, str] = {}
    (tmp_path / f"tilth-tests-{os.getuid()}").symlink_to("/")

    memory_disk.use(environ, tmp_path, room=1)

    assert environ == {}

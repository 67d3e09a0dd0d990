"""A plain file: what is read is an ordinary file, and stands where it is said to stand."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tilth.base.plain_file import (
    LeadsOut,
    NotPlain,
    open_plain,
    read_inside,
    read_plain,
    stays_inside,
)


def strange(kind: str, place: Path) -> Path:
    """Put something there that is no file."""
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    else:
        with socket.socket(socket.AF_UNIX) as listening:
            here = os.open(place.parent, os.O_RDONLY)
            listening.bind(f"/proc/self/fd/{here}/{place.name}")
            os.close(here)
    return place


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    place = strange(kind, tmp_path / "x")
    with pytest.raises(NotPlain) as caught:
        open_plain(place)
    assert caught.value.strerror == "it is no ordinary file"
    assert caught.value.filename == str(place)
    with pytest.raises((NotPlain, LeadsOut)):
        read_inside(tmp_path, place)


def test_a_directory_is_refused_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    for read in (lambda: read_plain(tmp_path / "x"), lambda: read_inside(tmp_path, tmp_path / "x")):
        with pytest.raises(IsADirectoryError, match="Is a directory"):
            read()


def test_a_file_and_a_link_to_one_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"said")
    (tmp_path / "b").symlink_to("a")
    assert read_plain(tmp_path / "a") == read_plain(tmp_path / "b") == b"said"
    assert read_inside(tmp_path, tmp_path / "b") == b"said"
    assert read_plain(tmp_path / "a", 2) == read_inside(tmp_path, tmp_path / "a", 2) == b"sai"


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    for read in (lambda: read_plain(tmp_path / "a"), lambda: read_inside(tmp_path, tmp_path / "a")):
        with pytest.raises(FileNotFoundError):
            read()


@pytest.mark.parametrize("way", ["../secret", "/etc/passwd", "up/secret", ".", "..", "/"])
def test_what_leads_out_of_a_directory_is_not_read(tmp_path: Path, way: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("hidden")
    (root / "up").symlink_to("..")
    (root / "x").symlink_to(way)
    assert not stays_inside(root, root / "x")
    with pytest.raises(LeadsOut):
        read_inside(root, root / "x")


def test_a_hidden_name_is_read_by_its_own_name_and_by_no_link(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"said")
    (tmp_path / "x").symlink_to(".env")
    assert read_inside(tmp_path, tmp_path / ".env") == b"said"
    with pytest.raises(LeadsOut):
        read_inside(tmp_path, tmp_path / "x")


def test_a_link_put_in_place_between_the_look_and_the_reading_leads_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    (root / "tests").mkdir(parents=True)
    (root / "tests" / "a").write_bytes(b"own")
    (tmp_path / "a").write_bytes(b"hidden")
    look = os.path.realpath

    def swap(path: object) -> str:
        found = look(str(path))
        if str(path).endswith("/a"):
            (root / "tests").rename(root / "old")
            (root / "tests").symlink_to(tmp_path)
        return found

    monkeypatch.setattr(os.path, "realpath", swap)
    with pytest.raises(OSError, match=r"tests|links|directory"):
        read_inside(root, root / "tests" / "a")

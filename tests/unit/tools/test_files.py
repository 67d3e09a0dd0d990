"""read_file and write_file: what is shown, and what is written."""

from __future__ import annotations

import errno
import os
import stat
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tilth.base import failpoint
from tilth.model.messages import ToolCall
from tilth.sandbox.confinement import Access, Unconfined
from tilth.tools import Toolbox, ToolOutcome


def call(root: Path, name: str, **arguments: Any) -> ToolOutcome:
    box = Toolbox(root=root, confinement=Unconfined(), access=Access(), env={}, bash_timeout_s=5)
    return box.run(ToolCall(id="c1", name=name, arguments=arguments))


def read(root: Path, path: str, **arguments: Any) -> str:
    outcome = call(root, "read_file", path=path, **arguments)
    assert not outcome.is_error, outcome.content
    return outcome.content


def test_a_file_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ttwo\n\nÄ€😀 [/x]")

    assert read(tmp_path, "a.txt") == "one\n\ttwo\n\nÄ€😀 [/x]"


def test_an_absolute_path_inside_the_worktree_will_do(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")

    assert read(tmp_path, str(tmp_path / "a.txt")) == "x"
    assert read(tmp_path, "./sub/../a.txt") == "x"


def test_an_empty_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()

    assert read(tmp_path, "a.txt") == "(a.txt is empty)"


def test_a_window_of_lines_is_shown_with_how_to_read_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {i}\n" for i in range(1, 11)))

    assert read(tmp_path, "a.txt", offset=3, limit=2) == (
        "line 3\nline 4\n[lines 3 to 4 shown; read on with offset=5]"
    )
    assert read(tmp_path, "a.txt", offset=9) == "line 9\nline 10\n"


@pytest.mark.parametrize(("text", "lines"), [("a\nb\n", "2 lines"), ("a\nb", "2 lines")])
def test_an_offset_past_the_end_says_how_long_the_file_is(
    tmp_path: Path, text: str, lines: str
) -> None:
    (tmp_path / "a.txt").write_text(text)

    outcome = call(tmp_path, "read_file", path="a.txt", offset=3)

    assert outcome.is_error
    assert outcome.content == f"offset 3 is past the end: the file has {lines}"


def test_two_thousand_lines_are_shown_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 2001)

    assert read(tmp_path, "a.txt") == (
        "x\n" * 2000 + "[lines 1 to 2000 shown; read on with offset=2001]"
    )
    assert read(tmp_path, "a.txt", offset=2001) == "x\n"


def test_sixty_kilobytes_are_shown_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{'x' * 999}\n" * 200)

    content = read(tmp_path, "a.txt")

    assert content.endswith("\n[lines 1 to 61 shown; read on with offset=62]")
    assert len(content) < 62_000


@pytest.mark.parametrize("size", [2001, 8001, 50_000])
def test_a_long_line_is_cut_and_the_next_one_is_not(tmp_path: Path, size: int) -> None:
    (tmp_path / "a.txt").write_text("x" * size + "\nnext\n")

    assert read(tmp_path, "a.txt") == (
        f"{'x' * 2000} [… about {size - 2000} more bytes on this line]\nnext\n"
    )


def test_a_huge_file_is_not_loaded(tmp_path: Path) -> None:
    with open(tmp_path / "huge", "wb") as file:
        file.write(b"first\n")
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b"\nlast\n")
    tracemalloc.start()
    try:
        head, last = read(tmp_path, "huge", limit=1), read(tmp_path, "huge", offset=3)
        long_line = read(tmp_path, "huge", offset=2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert head == "first\n[lines 1 to 1 shown; read on with offset=2]"
    assert last == "last\n"
    assert long_line.endswith("[… about 99998000 more bytes on this line]\nlast\n")
    assert peak < 8_000_000


def test_a_binary_file_is_refused_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"PK\0\1" * 10)

    outcome = call(tmp_path, "read_file", path="a.bin")

    assert outcome.is_error
    assert outcome.content == "a.bin is a binary file (40 bytes): use bash to inspect it"


def test_bytes_that_are_no_utf8_are_replaced_and_noted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("café\n".encode("latin-1"))

    assert read(tmp_path, "a.txt") == (
        "caf\ufffd\n[not valid UTF-8: bytes that cannot be read are shown as \ufffd]"
    )


def test_a_real_replacement_character_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\ufffdb\n")

    assert read(tmp_path, "a.txt") == "a\ufffdb\n"


def test_carriage_returns_and_a_bom_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")

    assert read(tmp_path, "a.txt") == (
        "one\ntwo\n[CRLF line endings, shown as plain ones; edit_file keeps them]"
    )


def test_a_missing_file_and_a_directory_say_so(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "file").touch()

    def why(path: str) -> str:
        outcome = call(tmp_path, "read_file", path=path)
        assert outcome.is_error
        return outcome.content

    assert why("gone.txt") == "gone.txt does not exist"
    assert why("gone/x.txt") == "gone does not exist"
    assert why("sub") == "sub is a directory: use glob or bash to list it"
    assert why(".") == "the path is the worktree itself: name a file in it"
    assert why("file/x") == "file is not a directory"
    assert why("x" * 300) == f"{'x' * 300}: file name too long"


@pytest.mark.parametrize("name", ["a\nb", "-rf", "Ünï€", "[/x]", " ", "a'b\"c", "*", "~", "$HOME"])
def test_hostile_names_are_just_names(tmp_path: Path, name: str) -> None:
    written = call(tmp_path, "write_file", path=f"d/{name}", content="old\n")
    edited = call(tmp_path, "edit_file", path=f"d/{name}", old_string="old", new_string="new")

    assert not written.is_error
    assert not edited.is_error
    assert "\n" not in written.content
    assert read(tmp_path, f"d/{name}") == "new\n"
    assert os.listdir(tmp_path / "d") == [name.partition("/")[0]]


def test_a_new_file_gets_its_directories(tmp_path: Path) -> None:
    outcome = call(tmp_path, "write_file", path="a/b/c.txt", content="one\ntwo")

    assert outcome.content == "created a/b/c.txt (2 lines)"
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"one\ntwo"


def test_content_is_written_as_given(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfold\r\n")

    outcome = call(tmp_path, "write_file", path="a.txt", content="new\nlines\r\n")

    assert outcome.content == "replaced a.txt (2 lines)"
    assert (tmp_path / "a.txt").read_bytes() == b"new\nlines\r\n"


def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o751)

    call(tmp_path, "write_file", path="run.sh", content="new")
    call(tmp_path, "edit_file", path="run.sh", old_string="new", new_string="newer")

    assert script.read_text() == "newer"
    assert stat.S_IMODE(script.stat().st_mode) == 0o751


def test_writing_leaves_no_draft_behind_even_when_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "worktree"
    (root / "sub").mkdir(parents=True)

    assert call(root, "write_file", path="sub", content="x").is_error
    assert call(root, "write_file", path="y" * 300, content="x").is_error
    assert not call(root, "write_file", path="ok", content="x").is_error
    # A directory that takes the file's place once the draft is written fails the replace itself.
    monkeypatch.setattr(failpoint, "_armed", [lambda _: (root / "late").mkdir()])
    assert call(root, "write_file", path="late", content="x").is_error
    assert sorted(os.listdir(root)) == ["late", "ok", "sub"]
    assert os.listdir(tmp_path) == ["worktree"]


def test_what_a_kill_left_of_a_draft_is_cleared_away(tmp_path: Path) -> None:
    root = tmp_path / "worktree"
    root.mkdir()
    (tmp_path / ".worktree.draft").write_text("half")

    assert not call(root, "write_file", path="a.txt", content="x").is_error
    assert os.listdir(tmp_path) == ["worktree"]


def test_a_directory_in_the_drafts_place_keeps_no_file_from_being_written(tmp_path: Path) -> None:
    root = tmp_path / "worktree"
    root.mkdir()
    (tmp_path / ".worktree.draft").mkdir()

    assert call(root, "write_file", path="a.txt", content="x").content == "created a.txt (1 line)"
    assert sorted(os.listdir(tmp_path)) == [".worktree.draft", "worktree"]


@pytest.mark.parametrize("fails", [False, True])
def test_a_file_on_a_mount_of_its_own_is_drafted_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    root = tmp_path / "worktree"
    (root / "mounted").mkdir(parents=True)
    real = os.replace

    def across(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        """Rename as the system does where every folder is a mount."""
        if not os.path.samestat(os.fstat(src_dir_fd), os.fstat(dst_dir_fd)):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        if fails:
            raise OSError(errno.EROFS, "Read-only file system")
        real(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "replace", across)

    outcome = call(root, "write_file", path="mounted/a.txt", content="x")

    told = "mounted/a.txt: read-only file system" if fails else "created mounted/a.txt (1 line)"
    assert outcome.content == told
    assert os.listdir(root / "mounted") == ([] if fails else ["a.txt"])
    assert os.listdir(tmp_path) == ["worktree"]

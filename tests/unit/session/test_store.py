"""The store: whole files replaced, lines appended, on a disk that may fill up at any moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import CorruptSession, DiskError
from tilth.session.store import (
    Journal,
    make_private,
    read_json,
    read_lines,
    replace_bytes,
    replace_json,
)

# A limit on the size of files is the nearest thing to a full disk that needs no rights.
FULL_DISK = """
import resource, sys
from pathlib import Path
from tilth.base.errors import DiskError
from tilth.session.store import Journal, replace_bytes
path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
"""


def on_a_full_disk(path: Path, script: str) -> str:
    """Run a script in a process that cannot write beyond 1000 bytes a file."""
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK + script, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.strip()


def test_a_record_is_synced_where_there_is_no_call_for_the_content_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fdatasync", raising=False)
    append(tmp_path / "log.jsonl", {"n": 1}, sync=True)
    assert lines(tmp_path / "log.jsonl") == [{"n": 1}]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def lines(path: Path) -> list[dict[str, Any]]:
    return list(read_lines(path))


def append(path: Path, *records: Any, sync: bool = False) -> None:
    journal = Journal(path)
    for record in records:
        journal.append(json.dumps(record), sync=sync)
    journal.close()


@pytest.fixture
def loose_umask() -> Any:
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    replace_json(path, {"n": 1})
    replace_json(path, {"n": 2, "text": "é 漢"})
    assert read_json(path) == {"n": 2, "text": "é 漢"}
    assert path.read_bytes().endswith(b"\n")
    assert os.listdir(tmp_path) == ["state.json"]


def test_a_reader_that_has_the_old_file_open_keeps_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    replace_bytes(path, b"old")
    with path.open("rb") as reader:
        replace_bytes(path, b"a new and longer text")
        assert reader.read() == b"old"


def test_half_a_surrogate_pair_survives_a_json_file(tmp_path: Path) -> None:
    replace_json(tmp_path / "x.json", {"text": "half \ud83d"})
    assert read_json(tmp_path / "x.json") == {"text": "half \ud83d"}


def test_a_full_disk_leaves_the_old_file_and_no_debris(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    replace_bytes(path, b"old")
    said = on_a_full_disk(
        path,
        "try:\n    replace_bytes(path, b'x' * 5000)\nexcept DiskError as error:\n    print(error)",
    )
    assert said.startswith(f"cannot write {path}: ")
    assert "\n" not in said
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["state.json"]


def test_a_directory_that_is_gone_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "state.json"
    with pytest.raises(DiskError, match=f"cannot write {path}: No such file"):
        replace_bytes(path, b"x")
    with pytest.raises(DiskError, match=f"cannot write {path}: No such file"):
        Journal(path)


def test_files_are_for_their_owner_alone(tmp_path: Path, loose_umask: None) -> None:
    replace_bytes(tmp_path / "a", b"x")
    append(tmp_path / "b.jsonl", {})
    make_private(tmp_path / "c" / "d" / "e")
    assert [mode(tmp_path / name) for name in ("a", "b.jsonl")] == [0o600, 0o600]
    assert [mode(tmp_path / name) for name in ("c", "c/d", "c/d/e")] == [0o700] * 3


def test_a_directory_that_stands_already_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)
    make_private(tmp_path / "mine")
    assert mode(tmp_path / "mine") == 0o755


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe\x00", b"nonsense", b"[" * 100_000], ids=range(5)
)
def test_a_json_file_that_cannot_be_read_is_a_corrupt_session(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "state.json"
    path.write_bytes(content)
    with pytest.raises(CorruptSession, match=str(path)):
        read_json(path)


def test_a_missing_json_file_and_a_directory_in_its_place_are_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptSession, match="the file is missing"):
        read_json(tmp_path / "state.json")
    with pytest.raises(CorruptSession, match="cannot be read"):
        read_json(tmp_path)


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    append(path, {"n": 1}, {"n": 2})
    append(path, {"n": 3}, sync=True)
    assert lines(path) == [{"n": 1}, {"n": 2}, {"n": 3}]


@pytest.mark.parametrize("text", ["one", "two " * 500])
def test_a_line_is_one_write(tmp_path: Path, text: str) -> None:
    """A pipe keeps what one write put into it together: whoever reads it sees whole lines."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    journal = Journal(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        journal.append(text)
        assert os.read(reader, 65536) == text.encode() + b"\n"
    finally:
        os.close(reader)
        journal.close()


def test_a_file_that_cannot_be_synced_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    journal = Journal(path)
    with pytest.raises(DiskError, match=f"cannot write {path}: "):
        journal.append("x", sync=True)
    journal.close()


def test_a_line_that_does_not_fit_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    said = on_a_full_disk(
        path,
        """
journal = Journal(path)
journal.append('{"n": 1}')
for size in (5000, 2000):
    try:
        journal.append('{"text": "' + "x" * size + '"}', sync=True)
    except DiskError as error:
        print(error)
journal.append('{"n": 2}')
journal.close()
""",
    )
    assert [line.startswith(f"cannot write {path}: ") for line in said.splitlines()] == [True] * 2
    assert lines(path) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    "torn", [b'{"n": 3', b"\x00\x00\x00", b'{"n": 3}', b"\xe6\xbc"], ids=range(4)
)
def test_a_torn_last_line_is_passed_over_and_set_aside(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "log.jsonl"
    append(path, {"n": 1}, {"n": 2})
    with path.open("ab") as file:
        file.write(torn)
    assert lines(path) == [{"n": 1}, {"n": 2}]
    assert path.read_bytes().endswith(torn)  # reading mends nothing
    append(path, {"n": 3})
    assert lines(path) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert (tmp_path / "log.jsonl.torn").read_bytes() == torn + b"\n"
    assert mode(tmp_path / "log.jsonl.torn") == 0o600


def test_what_an_interrupt_left_uncounted_is_gone_with_the_next_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal = Journal(path)
    journal.append("1")
    with path.open("ab") as behind_its_back:
        behind_its_back.write(b"2\n")
    journal._unsure = True
    journal.append("2")
    journal.close()
    assert path.read_bytes() == b"1\n2\n"


def test_a_file_of_one_byte_is_one_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\n")
    Journal(path).close()
    assert path.read_bytes() == b"\n"


def test_a_file_that_is_nothing_but_a_torn_line_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"x" * 200_000)
    append(path, {"n": 1})
    assert lines(path) == [{"n": 1}]


def test_the_end_of_the_last_line_is_found_behind_a_long_torn_one(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for length in (65535, 65536, 65537, 300_000):
        path.write_bytes(b'{"n": 1}\n' + b"x" * length)
        append(path, {"n": 2})
        assert lines(path) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"nonsense", "is not JSON"),
        (b"", "is not JSON"),
        (b'{"n": 1', "is not JSON"),
        (b"\xff\xff", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1]", "is not an object"),
        (b"null", "is not an object"),
    ],
    ids=range(7),
)
@pytest.mark.parametrize("last", [False, True])
def test_a_bad_line_is_named_with_its_file_and_number(
    tmp_path: Path, bad: bytes, said: str, last: bool
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"n": 1}\n' + bad + b"\n" + (b"" if last else b'{"n": 3}\n'))
    with pytest.raises(CorruptSession, match=f"{path}: line 2 {said}"):
        lines(path)


def test_a_journal_that_does_not_exist_has_no_lines(tmp_path: Path) -> None:
    assert lines(tmp_path / "none.jsonl") == []


def test_a_directory_in_a_journals_place_is_corrupt(tmp_path: Path) -> None:
    with pytest.raises(CorruptSession, match="cannot be read"):
        lines(tmp_path)


def test_a_large_journal_is_read_in_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    line = json.dumps({"text": "x" * 50_000}).encode() + b"\n"
    with path.open("wb") as file:
        for _ in range(1000):
            file.write(line)
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_lines(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 1000
    assert peak < 2_000_000


def test_a_closed_journal_may_be_closed_again_but_not_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "log.jsonl")
    journal.close()
    journal.close()
    with pytest.raises(DiskError):
        journal.append("{}")


def test_a_journal_that_is_made_has_its_name_on_disk_with_its_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    really = os.fsync

    def note(handle: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{handle}"))
        really(handle)

    monkeypatch.setattr(os, "fsync", note)
    journal = Journal(tmp_path / "new.jsonl")
    journal.append("{}", sync=True)
    journal.close()
    assert str(tmp_path) in synced

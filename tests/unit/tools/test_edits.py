"""edit_file changes what it was asked to, and not one byte more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import ToolError
from tilth.model.messages import ToolCall
from tilth.sandbox.confinement import Access, Unconfined
from tilth.tools import Toolbox
from tilth.tools.edits import replaced


def edit(data: bytes, old: str, new: str, *, replace_all: bool = False) -> bytes:
    return replaced(data, old, new, replace_all=replace_all).data


def why_not(data: bytes, old: str, new: str = "new", **options: Any) -> str:
    with pytest.raises(ToolError) as caught:
        edit(data, old, new, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "old", "new", "result"),
    [
        (b"a\nb\nc\n", "b", "B", b"a\nB\nc\n"),
        (b"a\nb\nc\n", "a\nb\n", "", b"c\n"),
        (b"a\nb", "b", "b\n", b"a\nb\n"),
        (b"a.c abc", "a.c", r"\1\g<0>", rb"\1\g<0> abc"),
        ("é€😀\n".encode(), "€", "$", "é$😀\n".encode()),
    ],
)
def test_text_is_replaced_exactly(data: bytes, old: str, new: str, result: bytes) -> None:
    assert edit(data, old, new) == result


@pytest.mark.parametrize(
    ("data", "old", "new", "result"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", b"x\r\ny\r\nz\r\nc\r\n"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "a\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\r\nb\r\n", "\nb", "\nc", b"a\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "b\n", "", b"a\r\nc\r\n"),
    ],
)
def test_a_file_with_crlf_keeps_it(data: bytes, old: str, new: str, result: bytes) -> None:
    assert edit(data, old, new) == result


@pytest.mark.parametrize(
    ("data", "old", "new", "result"),
    [
        (b"a\r\nb\nc\r\nd\n", "b\nc", "B\nC", b"a\r\nB\nC\r\nd\n"),
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\n", "a\nX\nc\n", b"a\r\nX\nc\r\nd\n"),
        (b"a\r\nb\nc\r\nd\n", "a\nb\nc\n", "a\nb\nb2\nc\n", b"a\r\nb\nb2\r\nc\r\nd\n"),
        (b"a\r\nb\nc\r\nd\n", "b", "b\nb2", b"a\r\nb\nb2\nc\r\nd\n"),
        (b"a\r\nb\nc\r\nd\n", "c", "c\nc2", b"a\r\nb\nc\r\nc2\r\nd\n"),
        (b"a\nb\r\n", "a\nb\n", "a\n", b"a\n"),
        (b"a\nb\r\nc\r\n", "a\nb\nc\n", "x\ny\nb\nc\n", b"x\ny\nb\r\nc\r\n"),
    ],
)
def test_with_mixed_endings_every_line_that_stays_keeps_its_own(
    data: bytes, old: str, new: str, result: bytes
) -> None:
    assert edit(data, old, new) == result


def test_explicit_carriage_returns_mean_bytes() -> None:
    assert edit(b"a\r\nb\nc\r\n", "a\r\n", "a\n") == b"a\nb\nc\r\n"
    assert edit(b"one\rtwo", "\r", "\n") == b"one\ntwo"


def test_an_explicit_crlf_goes_into_a_plain_file_as_given() -> None:
    assert edit(b"a\nb\n", "a", "x\r\ny") == b"x\r\ny\nb\n"


def test_bom_and_bytes_that_are_no_utf8_survive() -> None:
    data = b"\xef\xbb\xbffirst\r\ncaf\xe9 \xff\xfe\r\nlast"

    assert edit(data, "first", "1st") == b"\xef\xbb\xbf1st\r\ncaf\xe9 \xff\xfe\r\nlast"


def test_all_occurrences_are_replaced_when_asked() -> None:
    result = replaced(b"x\r\nx\nx", "x", "y\nz", replace_all=True)

    assert result.data == b"y\r\nz\r\ny\nz\ny\nz"
    assert result.count == 3
    assert result.line == 1


def test_several_occurrences_are_refused_with_their_lines() -> None:
    assert why_not(b"x\na\nx\r\n", "x") == (
        "old_string occurs 2 times (lines 1, 3): "
        "give more context to make it unique, or set replace_all"
    )


def test_occurrences_that_differ_only_in_their_line_ending_are_several() -> None:
    assert "occurs 2 times" in why_not(b"a\nb\na\r\nb\n", "a\nb")


def test_an_occurrence_that_overlaps_itself_is_refused() -> None:
    assert why_not(b"aaa\n", "aa") == "old_string overlaps itself at line 1: give more context"


def test_text_that_is_not_there_is_said_so() -> None:
    assert why_not(b"a\n", "b") == (
        "old_string was not found: read the file again and copy the text exactly"
    )


def test_a_difference_in_white_space_is_shown() -> None:
    assert why_not(b"a\n\tif  x:\r\n\t\ty\n", "    if x:\n        y") == (
        "old_string was not found, but line 2 differs only in white space: "
        r"the file has '\tif  x:\n\t\ty'"
    )


def test_the_place_where_the_first_line_stands_is_named() -> None:
    assert "its first line stands at line 2, but what follows differs" in why_not(
        b"a\nb\nc\n", "b\nd"
    )


def test_blank_text_that_is_not_there_gets_no_hint() -> None:
    assert "white space" not in why_not(b"a\nb\n", "\n\n\n")


def test_nothing_to_replace_and_nothing_to_change_are_refused() -> None:
    assert why_not(b"a", "").startswith("old_string is empty")
    assert why_not(b"a", "a", "a").startswith("old_string and new_string are the same")


def test_the_tool_reports_where_it_changed_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    box = Toolbox(
        root=tmp_path, confinement=Unconfined(), access=Access(), env={}, bash_timeout_s=5
    )

    def call(**arguments: Any) -> str:
        return box.run(ToolCall(id="c1", name="edit_file", arguments=arguments)).content

    assert call(path="a.txt", old_string="two", new_string="2") == (
        "edited a.txt (1 replacement, first at line 2)"
    )
    assert (tmp_path / "a.txt").read_bytes() == b"one\r\n2\r\n"
    assert call(path="gone.txt", old_string="a", new_string="b") == "gone.txt does not exist"


def test_a_binary_or_a_huge_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"a\0b")
    with open(tmp_path / "huge", "wb") as file:
        file.write(b"x" * 10_000)
        file.truncate(30_000_000)
    box = Toolbox(
        root=tmp_path, confinement=Unconfined(), access=Access(), env={}, bash_timeout_s=5
    )

    def call(path: str) -> str:
        arguments = {"path": path, "old_string": "a", "new_string": "b"}
        return box.run(ToolCall(id="c1", name="edit_file", arguments=arguments)).content

    assert "binary file" in call("a.bin")
    assert "too large to edit" in call("huge")


CRAFTED = """
import resource, sys
from tilth.base.errors import ToolError
from tilth.tools.edits import replaced
resource.setrlimit(resource.RLIMIT_DATA, (256 << 20, 256 << 20))
size = 8_000_000
data, old, new = {
    "feeds": (b"\\n" * size, "\\n" * 100_000 + "x", "y"),
    "mixed feeds": (b"\\r\\n" + b"\\n" * size, "\\n" * 100_000 + "x", "y"),
    "mixed places": (b"\\r\\n\\n" + b"a" * size, "a", "b\\nc"),
    "letters": (b"a" * size, "a" * 100_000 + "b", "y"),
    "same lines": (b"a\\n" * (size // 2), "a\\n" * 50_000 + " b", "y"),
    "growth": (b"a" * size, "a", "b" * 100_000),
    "returns": (b"\\r\\n" * (size // 2), "\\n", "\\n\\n"),
    "same short lines": (b"a\\n" * 500_000, "a\\n" * 400_000 + " b", "y"),
}[sys.argv[1]]
try:
    print("edited", replaced(data, old, new, replace_all=True).count)
except ToolError as error:
    print(str(error)[:60])
"""


@pytest.mark.parametrize(
    ("crafted", "said"),
    [
        ("feeds", "old_string was not found: "),
        ("mixed feeds", "old_string was not found: "),
        ("mixed places", "old_string occurs 8000000 times between mixed line endings"),
        ("letters", "old_string was not found: "),
        ("same lines", "old_string was not found: "),
        ("growth", "the file would have 800000000000 bytes afterwards"),
        ("returns", "edited 4000000"),
        ("same short lines", "old_string was not found: its first line stands at line 1"),
    ],
)
def test_a_crafted_file_costs_little_time_and_memory(crafted: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CRAFTED, crafted],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith(said)

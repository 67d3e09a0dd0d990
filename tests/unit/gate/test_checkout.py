"""What git writes at checkout otherwise than it was tested is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from tilth.base.errors import WorkspaceError
from tilth.gate.checkout import checkout_notes


def diff(text: str) -> str:
    return f"--- /dev/null\n+++ b/pkg/a.py\n@@ -0,0 +1,1 @@\n+{text}\n"


def notes(said: Mapping[str, str], text: str = "x = '$Id$'") -> tuple[str, ...]:
    return checkout_notes(diff(text), ["pkg/a.py"], lambda _: {"pkg/a.py": said})


@pytest.mark.parametrize("text", ["x = '$Id$'", "# $Id: abc $"])
def test_a_keyword_that_git_replaces_is_named_with_its_line(text: str) -> None:
    [note] = notes({"ident": "set"}, text)
    assert note.startswith("pkg/a.py:1: holds $Id$, which git replaces at checkout (ident): ")
    assert note.endswith(text)


@pytest.mark.parametrize("text", ["x = '$Identity$'", "$ID$", "Id"])
def test_a_word_that_is_no_keyword_is_not(text: str) -> None:
    assert notes({"ident": "set"}, text) == ()
    assert notes({"ident": "unset"}) == ()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"filter": "lfs"}, "filter=lfs"),
        ({"working-tree-encoding": "UTF-16"}, "working-tree-encoding=UTF-16"),
        ({"eol": "crlf", "text": "set"}, "eol=crlf"),
        ({"eol": "crlf", "filter": "x"}, "filter=x, eol=crlf"),
    ],
)
def test_a_file_that_git_rewrites_is_named(said: Mapping[str, str], why: str) -> None:
    [note] = notes(said)
    assert note.startswith(f"pkg/a.py: git rewrites it at checkout ({why}): ")


@pytest.mark.parametrize(
    "said",
    [
        {"eol": "lf", "text": "auto"},
        {"eol": "crlf", "text": "unset"},
        {"working-tree-encoding": "utf-8"},
        {"filter": "unset"},
    ],
)
def test_a_file_that_comes_out_as_it_is_stored_is_not(said: Mapping[str, str]) -> None:
    assert notes(said) == ()


def test_a_path_in_a_note_hides_nothing() -> None:
    [note] = checkout_notes("", ["a\u202e\n.py"], lambda _: {"a\u202e\n.py": {"filter": "x"}})
    assert note.startswith("a\\u202e\\x0a.py: ")


def test_what_git_cannot_say_is_one_note() -> None:
    def fails(_: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
        raise WorkspaceError("too long")

    [note] = checkout_notes(diff("$Id$"), ["a.py"], fails)
    assert note.startswith(".gitattributes: there is too much in these files to be read, so ")

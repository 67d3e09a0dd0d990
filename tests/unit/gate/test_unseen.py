"""What a diff does not show is named with what it is."""

from __future__ import annotations

import io
import zipfile

import pytest

from tilth.gate.unseen import unseen_notes
from tilth.git.changes import CUT, Change, Status


def note_on(path: str, content: bytes | None) -> str:
    return "".join(unseen_notes([Change(status="M", path=path)], lambda _: content))


def packed(*names: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "\0")
    return out.getvalue()


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("a.bin", b"x\0", "a binary file"),
        ("tool", b"\x7fELF\0", "compiled code"),
        ("a.so", b"x\0", "compiled code"),
        ("a.pyd", b"x\0", "compiled code"),
        ("a.pyc", b"x\0", "compiled code"),
        ("a.zip", packed("data.txt"), "an archive"),
        ("a.whl", packed("b.txt", "m.py"), "an archive that holds code (m.py)"),
        (
            "a.whl",
            packed("m.pyc", "n.so", "o.pyd"),
            "an archive that holds code (m.pyc, n.so, o.pyd)",
        ),
        ("a.zip", b"PK\x03\x04\0 torn", "an archive"),
        ("late.bin", b"x" * 8191 + b"\0", "a binary file"),
    ],
)
def test_a_binary_is_named_with_its_kind_and_its_size(path: str, content: bytes, kind: str) -> None:
    said = f"{path}: {kind}, {len(content)} bytes that the diff does not show"
    assert note_on(path, content) == said


def test_text_and_what_is_gone_need_no_note() -> None:
    assert note_on("a.so", b"plain text") == ""
    assert note_on("a.so", None) == ""
    gone = [Change(status="D", path=path) for path in ("a.bin", ".gitattributes", "AGENTS.md")]
    assert unseen_notes(gone, lambda _: b"\0") == ()


@pytest.mark.parametrize("path", ["AGENTS.md", "CLAUDE.md"])
def test_what_later_workers_and_evaluators_are_told_is_named(path: str) -> None:
    assert note_on(path, b"").startswith(f"{path}: it is told to workers and evaluators")
    assert note_on(f"docs/{path}", b"") == ""
    assert note_on("sub/.gitattributes", b"").startswith("sub/.gitattributes: it changes how git")


@pytest.mark.parametrize("status", ["A", "M", "D"])
def test_a_name_that_hides_what_it_is_is_shown_by_its_numbers(status: Status) -> None:
    [note] = unseen_notes([Change(status=status, path="a/\u202eyp.exe")], lambda _: None)
    assert note == "a/\\u202eyp.exe: its name holds characters that are not seen (U+202E)"
    [note] = unseen_notes([Change(status=status, path="a\n- b.py")], lambda _: None)
    assert note == "a\\x0a- b.py: its name holds characters that are not seen"


def adds(path: str, *lines: str) -> str:
    body = "".join(f"+{line}\n" for line in lines)
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


def test_blanks_that_honest_text_holds_are_named_once_a_file_after_all_else() -> None:
    diff = adds("a.md", "so", "I \u2764\ufe0f it", "20\u00a0km", "\u2764\ufe0f") + adds(
        "b.py", "\f"
    )
    changes = [Change(status="A", path=path) for path in ("a.md", "b.py", ".gitattributes")]
    attributes, *blanks = unseen_notes(changes, lambda _: None, (), diff)
    assert attributes.startswith(".gitattributes: ")
    said = "blanks and joiners that are not seen as such"
    assert blanks == [
        f"a.md: {said} (U+FE0F, U+00A0) in 3 lines, the first is 2",
        f"b.py: {said} (U+000C) in line 1",
    ]
    assert unseen_notes(changes[:1], lambda _: None, (), adds("a.md", "a\u200bb")) == ()


def test_a_diff_that_was_not_read_whole_is_said_to_be() -> None:
    [note] = unseen_notes([], lambda _: None, (), f"{adds('a.md', 'x')}{CUT}9 more bytes]\n")
    assert note.startswith("the diff is longer than what is read of it")

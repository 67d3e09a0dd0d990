"""Attributes: what git writes at checkout otherwise than it was tested is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tilth.gate.attributes import Attributes, keyword_notes, read_attributes, rewriting_notes
from tilth.gate.diff_lines import AddedLine
from tilth.git.changes import Change


def given(root: str, **deeper: str) -> Attributes:
    return Attributes(texts={"": root, **deeper})


def rewritten(attributes: Attributes, path: str) -> str:
    return "".join(rewriting_notes([Change(status="M", path=path)], attributes))


def keyword(attributes: Attributes, path: str = "pkg/a.py", text: str = "x = '$Id$'") -> str:
    return "".join(keyword_notes([AddedLine(path=path, number=3, text=text)], attributes))


@pytest.mark.parametrize(
    "text",
    [
        "*.py ident",
        "pkg/*.py text ident",
        "[attr]k ident\n* k",
        "* k\n[attr]k ident",
        "* -ident\n*.py ident",
        "*.py ident\n[!a]*.py -ident",
        "*.py ident\n#\f*.py -ident",
        "*.p\\y ident",
        "*.py ident\n*.py k\n*.py -k\n[attr]k -ident",
        "*.py ident\n*.py -ident $no",
    ],
)
def test_a_keyword_that_git_replaces_is_named_with_its_line(text: str) -> None:
    note = keyword(given(text))
    assert note.startswith("pkg/a.py:3: holds $Id$, which git replaces at checkout (ident): ")
    assert note.endswith("x = '$Id$'")
    assert keyword(given(text), text="# $Id: abc $") != ""


@pytest.mark.parametrize(
    "text", ["", "# *.py ident", "*.md ident", "*.py ident\n*.py -ident", "*.py ident\n* !ident"]
)
def test_a_keyword_that_stays_is_not(text: str) -> None:
    assert keyword(given(text)) == ""


@pytest.mark.parametrize("text", ["x = '$Identity$'", "$ID$", "Id"])
def test_a_word_that_is_no_keyword_is_not(text: str) -> None:
    assert keyword(given("* ident"), text=text) == ""


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("*.bin filter=lfs diff=lfs", "a/b.bin", "filter=lfs"),
        ("*.txt working-tree-encoding=UTF-16", "a.txt", "working-tree-encoding=UTF-16"),
        ("* text eol=crlf", "a.py", "eol=crlf"),
        ('"a b.txt" eol=crlf', "a b.txt", "eol=crlf"),
        ("*.[ch] filter=indent", "a.c", "filter=indent"),
        ("/docs/** filter=x", "docs/a/b.md", "filter=x"),
    ],
)
def test_a_file_that_git_rewrites_is_named(text: str, path: str, why: str) -> None:
    said = f"{path}: git rewrites it at checkout ({why}): "
    assert rewritten(given(text), path).startswith(said)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("* text=auto eol=lf", "a.py"),
        ("*.bin filter=lfs", "a.py"),
        ("* eol=crlf\n*.png binary", "a.png"),
        ("* eol=crlf\n*.sh eol=lf", "a.sh"),
        ("* working-tree-encoding=UTF-8", "a.py"),
        ("/a.py filter=x", "docs/a.py"),
        ("* filter=x\n* -filter", "a.py"),
    ],
)
def test_a_file_that_comes_out_as_it_is_stored_is_not(text: str, path: str) -> None:
    assert rewritten(given(text), path) == ""


def test_a_deeper_file_has_the_last_word_and_speaks_of_its_directory_alone() -> None:
    held = given("*.py ident", pkg="*.py -ident", other="*.txt ident")
    assert keyword(held) == ""
    assert keyword(held, "a.py") != ""
    assert keyword(held, "other/a.txt") != ""
    assert keyword(held, "another/a.txt") == ""


def test_the_attribute_files_of_a_tree_are_read_and_what_is_gone_is_not_rewritten() -> None:
    held = {".gitattributes": b"* ident\n", "pkg/.gitattributes": b"\xff", "a.py": b""}
    read = read_attributes(held, held.get)
    assert set(read.texts) == {"", "pkg"}
    assert keyword(read, "a.py") != ""
    gone = Change(status="D", path="a.bin")
    assert rewriting_notes([gone], given("* filter=x")) == ()


PATTERNS = [
    "*.py",
    "/*.py",
    "pkg/*",
    "pkg/**",
    "**/a.py",
    "pkg/**/a.py",
    "p*g/a.py",
    "[a-c].py",
    "[!a-c].py",
    "[[:alpha:]].py",
    "[[:nothing:]].py",
    "[]a].py",
    "[a",
    "?.py",
    "??.py",
    "\\a.py",
    "a.py\\",
    "!a.py",
    "pkg/",
    '"a\\056py"',
    '"a b.py"',
    "a.py\tident",
    "a.py\u2028ident",
]
PATHS = ["a.py", "é.py", "a b.py", "].py", "pkg/a.py", "pkg/deep/a.py", "pkg/deep/d.py", "a.py\\"]


def test_attributes_are_read_as_git_reads_them(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    command = ["git", "-C", str(tmp_path), "check-attr", "-z", "ident", "--", *PATHS]
    for pattern in PATTERNS:
        text = f"{pattern} m\n[attr]m ident\n"
        (tmp_path / ".gitattributes").write_text(text, encoding="utf-8", newline="")
        said = subprocess.run(command, check=True, capture_output=True).stdout.decode()
        values = said.split("\0")[2::3]
        by_git = [path for path, value in zip(PATHS, values, strict=True) if value == "set"]
        held = given(text)
        assert (pattern, by_git) == (pattern, [p for p in PATHS if held.of(p).get("ident") is True])


def test_two_stars_inside_a_name_are_read_as_the_git_that_takes_them_for_more() -> None:
    held = given("pk**/a.py ident\n")
    assert [path for path in PATHS if held.of(path)] == ["pkg/a.py", "pkg/deep/a.py"]


@pytest.mark.parametrize(
    "texts",
    [
        {"": "*.md ident\n" * 2_001},
        {"": "#" * 2_048},
        {"": "# so it goes\n" * 20_000},
        {"": "*.md ident\0"},
        {f"d{number}": "" for number in range(201)},
    ],
)
def test_more_than_is_read_is_named_once(texts: dict[str, str]) -> None:
    held = Attributes(texts=texts)
    too_much = ".gitattributes: there is too much in these files to be read, so "
    changes = [Change(status="A", path=path) for path in ("a.py", "b.py")]
    assert rewriting_notes(changes, held) == (
        f"{too_much}which files git rewrites at checkout is not known",
    )
    assert keyword(held) == f"{too_much}in which lines git replaces $Id$ at checkout is not known"
    assert keyword(held, text="nothing") == ""


def test_rules_times_paths_have_an_end() -> None:
    held = given("*.md filter=x\n" * 2_000)
    few = [Change(status="A", path=f"{number}.py") for number in range(100)]
    many = [Change(status="A", path=f"{number}.py") for number in range(2_000)]
    assert rewriting_notes(few, held) == ()
    [note] = rewriting_notes(many, held)
    assert note.startswith(".gitattributes: there is too much in these files to be read")


def test_a_tree_with_more_attribute_files_than_are_read_says_so() -> None:
    held = {f"d{number}/.gitattributes": b"" for number in range(300)}
    assert rewritten(read_attributes(held, held.get), "a.py") != ""
    large = {".gitattributes": b"# " + b"\n" * 10_000_000}
    assert len(read_attributes(large, large.get).texts[""]) < 1_000_000

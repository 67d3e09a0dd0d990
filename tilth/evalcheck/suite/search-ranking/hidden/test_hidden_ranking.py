"""Ranking and files, and the conventions of the project."""

import ast
import json
from pathlib import Path

import handbook_index
import pytest
from handbook_index import Index, IndexFileError

SOURCE = Path(handbook_index.__file__).read_text(encoding="utf-8")
NAMES = ["z", "m", "a", "y", "k", "B", "q", "c"]


def test_equal_pages_stay_in_the_order_of_adding(tmp_path):
    index = Index()
    for name in NAMES:
        index.add(name, "hoe and rake")
    index.add("best", "hoe hoe")
    assert index.search("hoe") == ["best", *NAMES]
    assert index.search("rake hoe") == NAMES
    index.save(tmp_path / "i")
    assert Index.load(tmp_path / "i").search("hoe") == ["best", *NAMES]


def test_occurrences_of_all_words_of_the_query_count_and_no_others():
    index = Index()
    index.add("one", "hoe rake rake spade spade spade spade")
    index.add("two", "hoe hoe hoe rake")
    index.add("three", "hoe hoe hoe hoe hoe")
    assert index.search("hoe rake") == ["two", "one"]
    assert index.search("hoe hoe rake") == ["two", "one"]
    assert index.search("hoe") == ["three", "two", "one"]


def test_a_page_entered_again_keeps_its_place(tmp_path):
    index = Index()
    for name in ("x", "b", "a"):
        index.add(name, "old hoe")
    index.add("b", "hoe")
    assert index.search("hoe") == ["x", "b", "a"]
    assert index.search("old") == ["x", "a"]
    index.save(tmp_path / "i")
    assert Index.load(tmp_path / "i").search("hoe") == ["x", "b", "a"]


def test_the_file_is_json_in_utf_8_that_people_can_read(tmp_path):
    index = Index()
    index.add("Früh-Beete", "Die Gießkanne läuft, 東京")
    index.save(tmp_path / "i")
    text = (tmp_path / "i").read_bytes().decode("utf-8")
    json.loads(text)
    assert "Früh-Beete" in text
    assert "東京" in text
    assert Index.load(str(tmp_path / "i")).search("東京 LÄUFT") == ["Früh-Beete"]


def test_an_empty_index_is_kept(tmp_path):
    Index().save(str(tmp_path / "i"))
    assert Index.load(tmp_path / "i").search("x") == []


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"[]", b"null", b"3", b'"x"', b'{"a": 1']
)
def test_every_file_that_is_no_index_is_refused(content, tmp_path):
    (tmp_path / "i").write_bytes(content)
    with pytest.raises(IndexFileError):
        Index.load(tmp_path / "i")


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    index = Index()
    index.add("page", "hoe and rake")
    index.save(tmp_path / "i")
    (tmp_path / "i").write_bytes((tmp_path / "i").read_bytes()[:-3])
    with pytest.raises(IndexFileError):
        Index.load(tmp_path / "i")


def test_a_file_that_is_nested_too_deep_is_refused(tmp_path):
    (tmp_path / "i").write_bytes(b"[" * 100000)
    with pytest.raises(IndexFileError):
        Index.load(tmp_path / "i")


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_read_is_refused(name, tmp_path):
    with pytest.raises(IndexFileError):
        Index.load(tmp_path / name)


def test_the_encoding_is_said_wherever_a_file_is_opened():
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            modes = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if name in ("open", "read_text", "write_text") and not {"rb", "wb"} & set(modes):
                given = [k.value.value for k in node.keywords if k.arg == "encoding"]
                given += [mode for mode in modes if isinstance(mode, str) and "utf" in mode.lower()]
                assert given
                assert given[0].lower() in ("utf-8", "utf8")


def test_no_module_is_used_whose_files_can_run_code():
    imported = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Import):
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module)
    assert not imported & {"pickle", "marshal", "shelve", "dbm", "sqlite3"}


def test_errors_are_caught_by_their_own_type():
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.ExceptHandler):
            assert node.type is not None
            names = {name.id for name in ast.walk(node.type) if isinstance(name, ast.Name)}
            assert not names & {"Exception", "BaseException"}
            assert any(isinstance(inner, ast.Raise) for inner in ast.walk(node))

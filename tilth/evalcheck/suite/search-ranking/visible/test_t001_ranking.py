import pytest

from handbook_index import Index, IndexFileError


def index():
    result = Index()
    result.add("beds", "Dig the bed. Rake the bed.")
    result.add("beans", "Beans like a warm bed, bed and sun, bed.")
    result.add("tools", "A rake and a hoe.")
    return result


# AC-1
def test_the_page_with_the_most_occurrences_comes_first():
    assert index().search("bed") == ["beans", "beds"]
    assert index().search("RAKE") == ["beds", "tools"]
    assert index().search("bed rake") == ["beds"]
    assert index().search("") == []


# AC-2
def test_a_saved_index_is_loaded(tmp_path):
    index().save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    assert loaded.search("bed") == ["beans", "beds"]
    loaded.add("new", "bed bed bed bed")
    assert loaded.search("bed") == ["new", "beans", "beds"]


# AC-3
def test_a_file_that_is_no_index_is_refused(tmp_path):
    (tmp_path / "index").write_bytes(b"no index")
    with pytest.raises(IndexFileError):
        Index.load(tmp_path / "index")

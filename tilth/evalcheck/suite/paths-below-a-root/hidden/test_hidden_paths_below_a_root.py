import pytest

from paths import Outside, resolve
from store import Store


@pytest.fixture
def root(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files-old").mkdir()
    (tmp_path / "files-old" / "x.txt").write_text("old")
    (tmp_path / "outer").mkdir()
    (tmp_path / "outer" / "x.txt").write_text("outer")
    return tmp_path / "files"


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize(
    "name", ["..", "../files-old/x.txt", "../filesystem", "a/../../files-old/x.txt", "a/b/../../../x", "//etc/passwd"]
)
def test_outside(root, name):
    with pytest.raises(Outside):
        resolve(root, name)


@pytest.mark.parametrize("name", ["..\\x", "a\\..\\..\\x", "\\etc\\passwd", "a/..\\../x", "..\\files-old\\x.txt"])
def test_outside_by_backslashes(root, name):
    with pytest.raises(Outside):
        resolve(root, name)


def test_inside_by_backslashes(root):
    assert resolve(root, "a\\b.txt") == root.resolve() / "a" / "b.txt"
    assert resolve(root, "a\\..\\b.txt") == root.resolve() / "b.txt"


@pytest.mark.parametrize("name", ["a/..", "./.", "a\\..", "./", "../files", "a/b/../.."])
def test_the_root_itself(root, name):
    with pytest.raises(Outside):
        resolve(root, name)


@pytest.mark.parametrize("name", ["a\0b", "\0", "a/b\0.txt"])
def test_a_nul_character(root, name):
    with pytest.raises(Outside):
        resolve(root, name)


@pytest.mark.parametrize(
    ("name", "below"),
    [("..a/b", "..a/b"), ("a..b", "a..b"), ("...", "..."), ("a//b", "a/b"), ("./a", "a"), ("ä/ö.txt", "ä/ö.txt"), ("../files/a", "a")],
)
def test_odd_names_that_are_inside(root, name, below):
    assert resolve(root, name) == root.resolve() / below


def test_links_on_the_way_and_at_the_end(root, tmp_path):
    (root / "way").symlink_to(tmp_path / "outer")
    (root / "relative").symlink_to("../outer")
    (root / "beside").symlink_to(tmp_path / "files-old")
    (root / "nowhere").symlink_to(tmp_path / "not-there" / "x.txt")
    for name in ("way/x.txt", "relative/x.txt", "beside/x.txt", "way/new/x.txt", "nowhere", "way"):
        with pytest.raises(Outside):
            resolve(root, name)


def test_links_that_stay_inside(root):
    (root / "real").mkdir()
    (root / "alias").symlink_to("real")
    (root / "absolute").symlink_to(root / "real")
    assert resolve(root, "alias/x.txt") == root.resolve() / "real" / "x.txt"
    assert resolve(root, "absolute/x.txt") == root.resolve() / "real" / "x.txt"


def test_a_root_that_is_a_link_or_relative(root, tmp_path, monkeypatch):
    (tmp_path / "entry").symlink_to(root)
    assert resolve(tmp_path / "entry", "a.txt") == root.resolve() / "a.txt"
    monkeypatch.chdir(tmp_path)
    from pathlib import Path

    assert resolve(Path("files"), "a.txt") == root.resolve() / "a.txt"
    with pytest.raises(Outside):
        resolve(Path("files"), "../outer/x.txt")


@pytest.mark.parametrize("name", ["../new/x.txt", "..\\new\\x.txt", "../files-old/sub/x.txt", "a/../../new/x", "new/../../sub/x"])
def test_a_refused_name_leaves_no_trace(root, tmp_path, name):
    before = everything(tmp_path)
    with pytest.raises(Outside):
        Store(root).write(name, "mine")
    assert everything(tmp_path) == before


def test_a_link_is_neither_read_nor_written_through(root, tmp_path):
    (root / "way").symlink_to(tmp_path / "outer")
    store = Store(root)
    with pytest.raises(Outside):
        store.read("way/x.txt")
    with pytest.raises(Outside):
        store.write("way/x.txt", "mine")
    with pytest.raises(Outside):
        store.write("way/sub/y.txt", "mine")
    assert (tmp_path / "outer" / "x.txt").read_text() == "outer"
    assert everything(tmp_path / "outer") == ["x.txt"]


def test_the_store_takes_backslashes(root):
    store = Store(root)
    store.write("notes\\today.txt", "hello")
    assert store.read("notes/today.txt") == "hello"
    assert everything(root) == ["notes", "notes/today.txt"]

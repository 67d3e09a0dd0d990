import pytest

from paths import Outside, resolve
from store import Store


@pytest.fixture
def root(tmp_path):
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


# AC-1
def test_a_name_below_the_root(root):
    assert resolve(root, "a/b.txt") == root.resolve() / "a" / "b.txt"


# AC-2
@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd"])
def test_a_name_that_leads_outside_is_refused(root, name):
    with pytest.raises(Outside):
        resolve(root, name)
    assert issubclass(Outside, ValueError)


def test_dots_that_stay_inside_are_fine(root):
    assert resolve(root, "a/../b.txt") == root.resolve() / "b.txt"


# AC-3
def test_a_link_that_leads_outside_is_refused(root, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(Outside):
        resolve(root, "link.txt")


# AC-6
@pytest.mark.parametrize("name", ["", "."])
def test_the_root_itself_is_no_file(root, name):
    with pytest.raises(Outside):
        resolve(root, name)


# AC-7
def test_the_store_keeps_files(root):
    store = Store(root)
    store.write("notes/today.txt", "hello")
    assert store.read("notes/today.txt") == "hello"


def test_the_store_refuses(root, tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    store = Store(root)
    with pytest.raises(Outside):
        store.read("../secret.txt")
    with pytest.raises(Outside):
        store.write("../secret.txt", "mine")
    assert (tmp_path / "secret.txt").read_text() == "secret"

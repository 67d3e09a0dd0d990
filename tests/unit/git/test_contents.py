"""Contents of objects: a small one is asked for once, by its name in full alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilth.base.errors import WorkspaceError
from tilth.git import contents


class Store:
    """Hold objects, and note what is asked for."""

    def __init__(self, **objects: bytes) -> None:
        self.objects = objects
        self.asked: list[list[str]] = []

    def __call__(self, names: bytes) -> bytes:
        self.asked.append(names.decode().split())
        return b"".join(self._one(name) for name in self.asked[-1])

    def _one(self, name: str) -> bytes:
        held = self.objects.get(name)
        if held is None:
            return f"{name} missing\n".encode()
        return f"{name} blob {len(held)}\n".encode() + held + b"\n"


ONE, TWO = "1" * 40, "2" * 40


def test_what_is_known_is_not_asked_for_again(tmp_path: Path) -> None:
    store = Store(**{ONE: b"one\n", TWO: b"two"})
    assert contents.read(tmp_path, [ONE], store) == [b"one\n"]
    assert contents.read(tmp_path, [TWO, ONE, TWO], store) == [b"two", b"one\n", b"two"]
    assert contents.read(tmp_path, [ONE, TWO], store) == [b"one\n", b"two"]
    assert store.asked == [[ONE], [TWO]]


def test_another_store_is_asked_for_itself(tmp_path: Path) -> None:
    store = Store(**{ONE: b"one"})
    for place in (tmp_path / "a", tmp_path / "b"):
        contents.read(place, [ONE], store)
    assert store.asked == [[ONE], [ONE]]


@pytest.mark.parametrize(
    ("name", "content"), [("HEAD:app.py", b"x"), (ONE, b"x" * (contents.LARGEST_KEPT + 1))]
)
def test_a_name_that_may_change_and_a_large_content_are_asked_for_each_time(
    tmp_path: Path, name: str, content: bytes
) -> None:
    store = Store(**{name: content})
    for _ in range(2):
        assert contents.read(tmp_path, [name], store) == [content]
    assert len(store.asked) == 2


def test_a_missing_object_is_an_error_and_not_kept(tmp_path: Path) -> None:
    store = Store()
    with pytest.raises(WorkspaceError, match=f"object {ONE} is missing"):
        contents.read(tmp_path, [ONE], store)
    store.objects[ONE] = b"here now"
    assert contents.read(tmp_path, [ONE], store) == [b"here now"]

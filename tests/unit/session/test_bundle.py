"""The bundle: a PRD and its tests as a user may really leave them on disk."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tilth.base.errors import BadPlan, UserError
from tilth.session.bundle import find_prd, read_bundle

TASK = {"id": "T-001", "title": "t", "description": "d", "acceptance_criteria": ["a"]}


def write(folder: Path, content: bytes | None = None, **tests: bytes) -> Path:
    prd = folder / "prd.json"
    prd.write_bytes(json.dumps([TASK]).encode() if content is None else content)
    if tests:
        (folder / "tests").mkdir()
        for name, text in tests.items():
            (folder / "tests" / f"{name}.py").write_bytes(text)
    return prd


def refusal(prd: Path, kind: type[UserError] = UserError) -> str:
    with pytest.raises(kind) as caught:
        read_bundle(prd)
    said = str(caught.value)
    assert "\n" not in said
    assert str(prd) in said
    return said


def test_a_bundle_is_its_plan_its_hash_and_the_tests_of_its_tasks(tmp_path: Path) -> None:
    prd = write(tmp_path, test_t001_a=b"one", test_t0010_b=b"other", helper=b"x", test_t002_c=b"y")
    bundle = read_bundle(prd)
    assert bundle.prd == prd.resolve()
    assert bundle.plan.tasks[0].id == "T-001"
    assert bundle.sha256 == hashlib.sha256(prd.read_bytes()).hexdigest()
    assert bundle.tests == {"test_t001_a.py": b"one"}


def test_reading_leaves_the_users_files_alone(tmp_path: Path) -> None:
    prd = write(tmp_path, test_t001_a=b"one")
    os.chmod(prd, 0o400)
    os.chmod(tmp_path, 0o500)
    try:
        read_bundle(prd)
    finally:
        os.chmod(tmp_path, 0o700)
    assert sorted(os.listdir(tmp_path)) == ["prd.json", "tests"]
    assert prd.stat().st_mode & 0o777 == 0o400


def test_a_missing_tests_folder_or_a_file_in_its_place_means_no_tests(tmp_path: Path) -> None:
    prd = write(tmp_path)
    assert read_bundle(prd).tests == {}
    (tmp_path / "tests").touch()
    assert read_bundle(prd).tests == {}


def test_a_prd_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    prd = write(tmp_path, b"\xef\xbb\xbf" + json.dumps([TASK]).encode())
    assert read_bundle(prd).plan.tasks[0].title == "t"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not JSON: Expecting value: line 1 column 1"),
        (b"[\n{,", "line 2 column 2"),
        (b"[1] trailing", "line 1 column 5"),
        (b'["\xff"]', "not UTF-8 at byte 2; save it as UTF-8"),
        (json.dumps([TASK]).encode("utf-16"), "not UTF-8"),
        (b'[{"id": NaN}]', "not JSON: NaN is not JSON"),
        (b"[-Infinity]", "not JSON: -Infinity is not JSON"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"[" + b"1" * 5000 + b"]", "not JSON: Exceeds the limit"),
        (b"null", "must be a list of tasks"),
    ],
    ids=range(11),
)
def test_a_prd_that_is_not_usable_json_says_where(
    tmp_path: Path, content: bytes, said: str
) -> None:
    assert said in refusal(write(tmp_path, content), BadPlan)


def test_a_key_that_stands_twice_is_named(tmp_path: Path) -> None:
    twice = json.dumps([TASK]).replace('"title": "t"', '"title": "t", "title": "u"')
    assert 'has the key "title" twice' in refusal(write(tmp_path, twice.encode()), BadPlan)


def test_a_prd_of_unreasonable_size_is_refused_unread(tmp_path: Path) -> None:
    prd = write(tmp_path)
    os.truncate(prd, 11 * 1024 * 1024)
    assert "is larger than 10 MB" in refusal(prd)


def test_a_test_of_unreasonable_size_is_refused(tmp_path: Path) -> None:
    prd = write(tmp_path, test_t001_a=b"")
    os.truncate(tmp_path / "tests" / "test_t001_a.py", 6 * 1024 * 1024)
    with pytest.raises(UserError, match=r"test_t001_a\.py is larger than 5 MB"):
        read_bundle(prd)


def test_a_directory_named_like_a_prd_or_a_test_is_refused(tmp_path: Path) -> None:
    (tmp_path / "prd.json").mkdir()
    assert "is not a file" in refusal(tmp_path / "prd.json")
    (tmp_path / "prd.json").rmdir()
    prd = write(tmp_path)
    (tmp_path / "tests" / "test_t001_a.py").mkdir(parents=True)
    with pytest.raises(UserError, match="is not a file"):
        read_bundle(prd)


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "prd.json")
    assert "is not a file" in refusal(tmp_path / "prd.json")


def linked(tmp_path: Path, name: str, to: Path | str) -> Path:
    """Make a bundle in which one of its parts is a link."""
    (tmp_path / "bundle").mkdir()
    prd = write(tmp_path / "bundle", test_t001_a=b"one")
    place = tmp_path / "bundle" / name
    place.rename(tmp_path / "away")
    place.symlink_to(to)
    return prd


@pytest.mark.parametrize("name", ["prd.json", "tests", "tests/test_t001_a.py"])
def test_a_link_out_of_a_bundle_is_refused_with_its_name(tmp_path: Path, name: str) -> None:
    prd = linked(tmp_path, name, tmp_path / "away")
    with pytest.raises(UserError) as caught:
        read_bundle(prd)
    assert str(caught.value).startswith(
        f"{tmp_path / 'bundle' / name} is a link that leads out of the bundle; put the "
    )


def test_a_chain_of_links_out_of_a_bundle_is_refused(tmp_path: Path) -> None:
    prd = linked(tmp_path, "tests/test_t001_a.py", "../more/inner")
    (tmp_path / "bundle" / "more").symlink_to(tmp_path)
    (tmp_path / "inner").write_text("hidden")
    with pytest.raises(UserError, match="leads out of the bundle"):
        read_bundle(prd)


def test_a_link_to_what_a_checkout_keeps_for_itself_is_refused(tmp_path: Path) -> None:
    """A bundle may be the root of a checkout, whose `.env` and `.git` stand inside it."""
    prd = linked(tmp_path, "tests/test_t001_a.py", "../.env")
    (tmp_path / "bundle" / ".env").write_text("KEY=hidden")
    with pytest.raises(UserError, match="leads out of the bundle"):
        read_bundle(prd)


def test_links_within_a_bundle_and_to_it_are_followed(tmp_path: Path) -> None:
    prd = linked(tmp_path, "tests/test_t001_a.py", "../shared/a.py")
    (tmp_path / "bundle" / "shared").mkdir()
    (tmp_path / "bundle" / "shared" / "a.py").write_bytes(b"shared")
    (tmp_path / "short").symlink_to(prd.parent)
    assert read_bundle(prd).tests == {"test_t001_a.py": b"shared"}
    assert read_bundle(tmp_path / "short" / "prd.json").tests == {"test_t001_a.py": b"shared"}


@pytest.mark.parametrize("name", ["prd.json", "gone/prd.json", "file/prd.json", "a\0b"])
def test_a_prd_that_is_not_there_is_named_with_what_to_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    said = refusal(tmp_path / name)
    assert said.endswith(" is not a file; name a prd.json or its directory")


@pytest.mark.parametrize("name", ["today.json", "prd.json"])
def test_a_prd_may_be_named_by_a_link_and_its_tests_stand_beside_the_file(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "bundle").mkdir()
    (tmp_path / "links").mkdir()
    prd = write(tmp_path / "bundle", test_t001_a=b"one")
    link = tmp_path / "links" / name
    link.symlink_to("../bundle/prd.json")
    found = find_prd(link)
    assert found == prd.resolve()
    assert read_bundle(found).tests == {"test_t001_a.py": b"one"}


def test_a_link_in_the_place_of_a_bundles_prd_is_refused_however_it_is_named(
    tmp_path: Path,
) -> None:
    prd = linked(tmp_path, "prd.json", tmp_path / "away")
    for target in (prd, prd.parent):
        found = find_prd(target)
        assert found is not None
        assert "is a link that leads out of the bundle" in refusal(found)


@pytest.mark.parametrize("link", [False, True])
def test_a_pipe_in_the_place_of_a_test_is_refused_at_once(tmp_path: Path, *, link: bool) -> None:
    prd = write(tmp_path, test_t001_a=b"one")
    test = tmp_path / "tests" / "test_t001_a.py"
    test.unlink()
    os.mkfifo(tmp_path / "pipe" if link else test)
    if link:
        test.symlink_to("../pipe")
    with pytest.raises(UserError, match=r"test_t001_a\.py is not a file"):
        read_bundle(prd)


def test_a_prd_is_found_in_its_directory_or_by_its_name(tmp_path: Path) -> None:
    assert find_prd(tmp_path) is None
    prd = write(tmp_path)
    assert find_prd(tmp_path) == prd
    assert find_prd(prd) == prd
    other = tmp_path / "plan.json"
    other.touch()
    assert find_prd(other) == other


@pytest.mark.parametrize("name", ["gone", "gone/prd.json", "x" * 5000, "a\0b"])
def test_a_target_that_does_not_exist_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError) as caught:
        find_prd(tmp_path / name)
    assert str(tmp_path) in str(caught.value)


def test_every_problem_of_a_prd_is_told_with_its_file(tmp_path: Path) -> None:
    bad: list[Any] = [TASK | {"title": ""}, 3]
    prd = write(tmp_path, json.dumps(bad).encode())
    with pytest.raises(BadPlan) as caught:
        read_bundle(prd)
    assert [line.startswith(f"{prd}: tasks[") for line in str(caught.value).splitlines()] == [
        True,
        True,
    ]

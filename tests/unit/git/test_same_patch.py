"""The same patch: what a verdict is about stays the same wherever it stands, and nowhere else."""

from __future__ import annotations

from tilth.git.changes import same_patch

HUNK = """diff --git a/a.py b/a.py
index {old}..{new} 100644
--- a/a.py
+++ b/a.py
@@ -{at},3 +{at},4 @@ def f():
 one
{middle}
+added
 three
"""


def patch(at: int = 1, middle: str = " two", old: str = "aaaa", new: str = "bbbb") -> str:
    return HUNK.format(at=at, middle=middle, old=old, new=new)


def test_line_numbers_and_blobs_do_not_count() -> None:
    assert same_patch(patch(), patch(at=40, old="cccc", new="dddd"))


def test_other_surroundings_are_another_patch() -> None:
    assert not same_patch(patch(), patch(middle=" zwei"))


def test_another_added_line_is_another_patch() -> None:
    assert not same_patch(patch(), patch().replace("+added", "+added too"))


def test_a_binary_file_is_told_by_its_blobs() -> None:
    text = "diff --git a/a b/a\nindex {}..{} 100644\nBinary files a/a and b/a differ\n"
    assert same_patch(text.format("aa", "bb"), text.format("aa", "bb"))
    assert not same_patch(text.format("aa", "bb"), text.format("aa", "cc"))


def test_a_mode_is_part_of_it() -> None:
    assert not same_patch(patch(), patch().replace("100644", "100755"))


def test_a_line_that_looks_like_a_header_is_content() -> None:
    inside = patch().replace("+added", "+@@ -1,1 +1,1 @@")
    other = patch().replace("+added", "+@@ -2,2 +2,2 @@")
    assert not same_patch(inside, other)


def test_nothing_is_the_same_as_nothing() -> None:
    assert same_patch("", "")
    assert not same_patch("", patch())

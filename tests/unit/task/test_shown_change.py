"""The shown change: what is not shown is named, and told and recorded as one."""

from __future__ import annotations

from tilth.task.briefs import fence
from tilth.task.shown_change import DIFF_LIMIT, LIST_LIMIT, ShownChange, shown_change

BLOCK = fence("word")


def part(path: str, lines: int = 1) -> str:
    head = f"diff --git a/{path} b/{path}\nnew file mode 100644\nindex 0000..1234\n"
    body = "+some words to read\n" * lines
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n{body}"


def test_a_diff_that_is_shown_whole_leaves_nothing_unshown() -> None:
    change = shown_change(part("a.py") + part("b.py"))
    assert change.is_whole
    assert change.unshown == ()
    assert change.files == ("a.py (+1 -0)", "b.py (+1 -0)")
    assert "\nindex " not in change.text


def test_a_cut_names_what_it_leaves_out_and_what_it_shows_in_part() -> None:
    change = shown_change(part("a.py") + part("b.py", 20_000) + part("c.py", 2))
    assert len(change.text) == DIFF_LIMIT
    assert change.unshown == ("b.py (+20000 -0), in part", "c.py (+2 -0)")
    note = change.note(BLOCK)
    assert "THE DIFF IS CUT: only its first 200000 of " in note
    assert note.endswith(BLOCK("left out", "\n".join(change.unshown)))


def test_a_file_that_the_diff_at_hand_no_longer_holds_is_named_too() -> None:
    change = shown_change(part("a.py", 20_000), ["a.py", "zz/evil.py"])
    assert change.files == ("a.py (+20000 -0)", "zz/evil.py (not counted)")
    assert change.unshown == ("a.py (+20000 -0), in part", "zz/evil.py (not counted)")


def test_a_flood_of_files_hides_none_in_a_small_directory() -> None:
    flood = "".join(part(f"data/{'n' * 60}{number:05}.txt") for number in range(6000))
    change = shown_change(part("feature.py") + flood + part("zz/evil.py"))
    assert {"feature.py (+1 -0)", "zz/evil.py (+1 -0)"} <= set(change.files)
    assert "zz/evil.py (+1 -0)" in change.unshown
    assert not change.is_whole


def test_names_that_are_long_once_they_are_written_out_count_as_cut() -> None:
    flood = [f"{number:03}{chr(0xE0041) * 60}" for number in range(200)]
    change = shown_change("".join(f"diff --git a/{name} b/{name}\n" for name in flood))
    assert sum(map(len, change.files)) < LIST_LIMIT
    assert change.unshown == ("* (200 files, +0 -0)",)
    assert "THE LIST OF FILES IS CUT" in change.note(BLOCK)


def test_no_change_is_said_to_be_none() -> None:
    change = shown_change("")
    assert change == ShownChange(text="", length=0, files=())
    assert change.diff(BLOCK) == BLOCK("diff", "(no change)")
    assert "No file was changed." in change.note(BLOCK)

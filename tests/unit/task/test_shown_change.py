"""The shown change: what is not shown is named, and told and recorded as one."""

from __future__ import annotations

from tilth.task.briefs import fence
from tilth.task.shown_change import (
    DIFF_LIMIT,
    LED_LIMIT,
    LIST_LIMIT,
    ShownChange,
    led_to,
    shown_change,
)

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


def adds(path: str, *lines: str, mode: str = "100644") -> str:
    body = "".join(f"+{line}\n" for line in lines)
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\nindex 0000..1234\n"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}"


def nowhere(path: str) -> str:
    return led_to(path, None, None, ())


def test_what_hides_or_reads_as_another_stands_as_its_number_and_that_is_said() -> None:
    odd = ["x = 1  # \u202e", f"y = 2{' ' * 200}; z = 3", "\u0430dmin = 1", "d" * 600]
    change = shown_change(adds("a.py", *odd), led=nowhere)
    shown = change.text.split("\n")[5:]
    assert shown == [
        "+x = 1  # \\u202e",
        "+y = 2[… 200 blanks …]; z = 3",
        "+\\u0430dmin = 1",
        "+" + "d" * 239,
        "↪ " + "d" * 240,
        "↪ " + "d" * 121,
        "",
    ]
    assert change.files == ("a.py (+4 -0)",)
    assert change.is_whole
    assert change.diff(BLOCK).startswith("In it a character that is not seen")


def test_a_plain_change_is_shown_as_it_is_and_nothing_is_said_of_it() -> None:
    diff = adds("a.py", "größe = 'размер'  # 尺寸", "\tx = 1\r", "x  = 1" + " " * 90 + "# so")
    change = shown_change(diff, led=nowhere)
    assert change == shown_change(diff)
    assert change.diff(BLOCK) == BLOCK("diff", change.text)


def test_under_the_rules_of_old_sessions_a_change_is_shown_as_it_was() -> None:
    diff = adds("a.py", "x = 1  # \u202e" + " " * 300)
    assert shown_change(diff).text == diff.replace("index 0000..1234\n", "")


def test_a_name_in_a_head_of_the_diff_hides_nothing_either() -> None:
    change = shown_change(adds("\u0430dmin\u200b.py", "x"), ["\u0430dmin\u200b.py"], nowhere)
    assert change.files == ("\\u0430dmin\\u200b.py (+1 -0)",)
    assert "+++ b/\\u0430dmin\\u200b.py\n" in change.text


def test_what_is_cut_is_counted_as_it_is_shown() -> None:
    change = shown_change(adds("a.py", *["\u202e" * 40] * 2000) + adds("b.py", "x"), led=nowhere)
    assert len(change.text) == DIFF_LIMIT
    assert change.length > 2000 * 6 * 40
    assert change.unshown == ("a.py (+2000 -0), in part", "b.py (+1 -0)")


def test_a_link_is_shown_with_what_it_leads_to() -> None:
    files = ("d/one", "d/two", "e")

    def led(path: str) -> str:
        return {
            "a.py": led_to("a.py", "data.txt", "import os\n+x\u200b\n".encode(), files),
            "d2": led_to("d2", "d", None, files),
            "b": led_to("b", "b.bin", b"\0\1", files),
        }.get(path) or nowhere(path)

    names = ("a.py", "d2", "b", "out")
    diff = "".join(adds(name, "to", mode="120000") for name in names) + adds("plain", "x")
    change = shown_change(diff, led=led)
    assert [line for line in change.text.split("\n") if line.startswith("|")] == [
        "| a.py leads to data.txt, which holds:",
        "|   import os",
        "|   +x\\u200b",
        "|   ",
        "| d2 leads to d, with 2 files below it:",
        "|   d/one",
        "|   d/two",
        "| b leads to b.bin, a binary file of 2 bytes",
        "| out leads out of the project, to all of it, or nowhere",
    ]
    assert change.files[0] == "a.py (+1 -0)"
    assert change.is_whole


def test_a_link_that_leads_elsewhere_now_is_one_and_a_link_that_goes_is_none() -> None:
    moved = "diff --git a/l b/l\nindex 0000..1234 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n+b\n"
    gone = "diff --git a/g b/g\ndeleted file mode 120000\nindex 1..0\n--- a/g\n+++ /dev/null\n"
    text = shown_change(moved + gone, led=nowhere).text
    assert text.count("| ") == 1
    assert "| l leads out" in text
    assert "index " not in text


def test_of_a_long_file_behind_a_link_the_rest_is_counted() -> None:
    lines = led_to("a.py", "b", b"x" * (LED_LIMIT + 7), ()).splitlines()
    assert lines[-1] == "|   [cut: 7 more characters]"

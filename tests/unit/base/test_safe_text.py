from __future__ import annotations

import pytest

from tilth.base.safe_text import first_lines, inert, is_blank, last_lines, one_line

HOSTILE = {
    "an escape sequence": ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
    "a title change": ("\x1b]0;owned\x07", "␛]0;owned␇"),
    "an eight-bit escape": ("\x9b31m", "\\x9b31m"),
    "a carriage return": ("safe\rforged", "safe␍forged"),
    "a backspace": ("rm\x08\x08ls", "rm␈␈ls"),
    "a delete": ("a\x7fb", "a␡b"),
    "a direction override": ("abc\u202egnp.exe", "abc\\u202egnp.exe"),
    "a direction isolate": ("a\u2066b", "a\\u2066b"),
    "an invisible space": ("a\u200bb", "a\\u200bb"),
    "a lone surrogate": ("a\ud800b", "a\\ud800b"),
    "a line separator": ("a\u2028b", "a\\u2028b"),
    "a null": ("a\x00b", "a␀b"),
    "an invisible tag": ("a\U000e0041b", "a\\ue0041b"),
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE)
def test_what_a_terminal_would_act_on_becomes_visible(text: str, shown: str) -> None:
    assert inert(text) == shown


@pytest.mark.parametrize(
    "text", ["", "plain", "ümlaut 日本語 🌱", "[bold]x[/bold] [/x]", ":smile:"]
)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert inert(text) == text


def test_line_breaks_stay_and_tabs_become_spaces() -> None:
    assert inert("a\r\nb\tc\u00a0d") == "a\nb c d"


def test_making_text_inert_twice_changes_nothing() -> None:
    everything = "".join(map(chr, range(0x3000))) + "\ud800\U000e0041"
    once = inert(everything)
    assert inert(once) == once
    assert all(char.isprintable() or char == "\n" for char in once)
    once.encode("utf-8")


def test_one_line_folds_line_breaks_and_leaves_what_is_quoted_as_it_was() -> None:
    assert one_line("  a\n\n b\tc ") == "a b c"
    assert one_line("says 'max  size'\n   twice") == "says 'max  size' twice"


def test_a_line_is_cut_between_two_words() -> None:
    assert one_line("the evaluator objects", 18) == "the evaluator…"
    assert one_line("the evaluator objects", 14) == "the evaluator…"
    assert one_line("a/very/long/path/without/a/space", 10) == "a/very/lo…"


@pytest.mark.parametrize("limit", [1, 5, 20])
def test_a_long_line_ends_in_an_ellipsis_within_its_limit(limit: int) -> None:
    line = one_line("word " * 100_000, limit)
    assert len(line) <= limit
    assert line.endswith("…")


def test_a_line_that_just_fits_is_left_whole() -> None:
    assert one_line("12345", 5) == "12345"
    assert one_line("123456", 5) == "1234…"


def test_an_escape_cannot_hide_behind_the_cut() -> None:
    assert "\x1b" not in one_line("\x1b" * 50, 10)


def test_a_text_that_is_blank_where_it_is_looked_at_says_that_more_follows() -> None:
    assert one_line(" " * 10_000 + "end", 10) == "…"


def test_first_and_last_lines_leave_blank_ones_out_and_keep_indentation() -> None:
    text = "one\n\n  two\nthree\n\n"
    assert first_lines(text, 2) == ("one", "  two")
    assert last_lines(text, 2) == ("  two", "three")
    assert last_lines(text, 0) == ()
    assert last_lines("", 3) == ()


def test_lines_are_shortened_and_made_safe() -> None:
    assert last_lines("ok\n\x1b[1mvery long line", 1, 8) == ("␛[1mver…",)


@pytest.mark.parametrize(
    "code",
    [0x034F, 0xFE0F, 0x17B4, 0x180B, 0xE0100, 0x16FE4, 0x1D159, 0x2800, 0x3164, 0x200B, 0x3000],
    ids=hex,
)
def test_a_text_of_what_is_not_seen_is_blank(code: int) -> None:
    assert is_blank(f" \n{chr(code) * 3}\t")
    assert not is_blank(f"{chr(code)}x")


@pytest.mark.parametrize("text", ["x", "\ue0a0", "\U000f0001", "漢", "❤\ufe0f", "\ud800"])
def test_a_text_in_which_anything_is_seen_is_not_blank(text: str) -> None:
    assert not is_blank(text)

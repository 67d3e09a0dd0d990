"""Hidden characters, and those that read as others: how they are shown, and what stays."""

from __future__ import annotations

import pytest

from tilth.base.hidden_characters import (
    LONGEST_LINE,
    escaped,
    escaped_line,
    in_plain_sight,
    is_hidden,
)

UNSEEN = (
    *(0x00, 0x07, 0x1B, 0x7F, 0x85, 0x9F),
    *(0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x180E, 0x200B, 0x202E, 0x2028, 0x2029),
    *(0x2060, 0x2065, 0x2066, 0x206A, 0x2800, 0x3164, 0xFE00, 0xFEFF, 0xFFA0, 0xFFF9),
    *(0x1D159, 0x1D173, 0xE0001, 0xE0041, 0xE0100, 0xE0FFF),
)


@pytest.mark.parametrize("code", UNSEEN, ids=hex)
def test_what_is_not_seen_is_shown_by_its_number(code: int) -> None:
    line = f"ad{chr(code)}min = 1"
    assert is_hidden(chr(code))
    assert escaped(line).isprintable()
    assert f"{code:x}" in escaped(line)


@pytest.mark.parametrize("char", "\f\u00a0\u2003\u202f\u3000\ufe0f\u200d")
def test_honest_text_may_hold_what_is_not_seen_as_such(char: str) -> None:
    assert escaped(f"twenty{char}apples").isascii()


WHOLE = (
    *("", "\tx = 1", "é 漢 かな 👩 ع", "⠁ …", "\\u202e", "x² + ½ µs ①", "# l·l, façade, İı"),
    *("Größe = 1", "размер = сору", "尺寸 = 1", "使用API获取データdata", "ｶﾅ", "αβγ"),
    *("שלום, world", "комп\u02bcютер", "'\\nпривет\\tмир'", "– «API» – это", "a\u0301 e\u0308"),
)


@pytest.mark.parametrize("text", WHOLE)
def test_text_that_is_seen_whole_stays(text: str) -> None:
    assert escaped(text) == text
    assert in_plain_sight(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\u0430dmin", "\\u0430dmin"),
        ("get_\u0441", "get_\\u0441"),
        ("v\u03bf = value", "v\\u03bf = value"),
        ("\ua4eedd", "\\ua4eedd"),
        ("\u13a0dd", "\\u13a0dd"),
        ("\u0430\u0301dmin", "\\u0430\u0301dmin"),
        ("\u03bf\u0430", "\\u03bf\\u0430"),
        ("\U0001d41add", "\\U0001d41add"),
        ("\U0001d6fc", "\\U0001d6fc"),
        ("\ufb01le", "\\ufb01le"),
        ("\uff41dd", "\\uff41dd"),
        ("a\ufe33b", "a\\ufe33b"),
        ("va\u217cue", "va\\u217cue"),
        ("\u212aelvin", "\\u212aelvin"),
    ],
)
def test_a_name_that_reads_as_another_one_is_shown_by_numbers(text: str, shown: str) -> None:
    assert escaped(f"x.{text}(1)") == f"x.{shown}(1)"


def test_blanks_that_push_code_away_are_counted() -> None:
    assert in_plain_sight(f"+x = 1{' ' * 300}; y = 2") == "+x = 1[… 300 blanks …]; y = 2"
    assert in_plain_sight("+" + "\t" * 40 + "y") == "+[… 320 blanks …]y"
    apart = f"+x{' ' * 120}= 1"
    assert in_plain_sight(apart) == apart


def test_a_long_line_goes_on_after_a_sign_no_line_begins_with() -> None:
    line = "+" + "abcdefghi " * 50
    first, *rest = in_plain_sight(f"{line}\n+x").split("\n")
    assert first == line[:LONGEST_LINE]
    assert [part[:2] for part in rest] == ["↪ ", "↪ ", "+x"]
    assert first + "".join(part[2:] for part in rest[:2]) == line
    assert in_plain_sight("+" * LONGEST_LINE) == "+" * LONGEST_LINE


def test_a_return_is_usual_only_where_a_line_ends() -> None:
    assert in_plain_sight("+a\r\n+b\rc\r\n") == "+a\r\n+b\\x0dc\r\n"
    assert in_plain_sight("+a\r\r\n") == "+a\\x0d\r\n"


def test_a_name_stays_in_one_line() -> None:
    assert escaped_line("a\n\tb\u202egp.py") == "a\\x0a\\x09b\\u202egp.py"
    assert escaped_line("naïve 漢.py") == "naïve 漢.py"
    assert escaped_line("\U000e0041") == "\\U000e0041"


def test_what_is_written_as_its_number_hides_nothing_more() -> None:
    every = "".join(map(chr, UNSEEN))
    assert not any(map(is_hidden, escaped(every)))
    assert escaped(escaped(every)) == escaped(every)

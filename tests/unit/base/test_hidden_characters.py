"""Hidden characters: which they are, which of them honest text holds, and how they are shown."""

from __future__ import annotations

import pytest

from tilth.base.hidden_characters import escaped, escaped_line, hidden_in, is_hidden

UNSEEN = (
    *(0x00, 0x07, 0x1B, 0x7F, 0x85, 0x9F),
    *(0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x180E, 0x200B, 0x202E, 0x2028, 0x2029),
    *(0x2060, 0x2065, 0x2066, 0x206A, 0x2800, 0x3164, 0xFE00, 0xFEFF, 0xFFA0, 0xFFF9),
    *(0x1D159, 0x1D173, 0xE0001, 0xE0041, 0xE0100, 0xE0FFF),
)


@pytest.mark.parametrize("code", UNSEEN, ids=hex)
def test_what_is_not_seen_is_grave_and_shown_by_its_number(code: int) -> None:
    line = f"ad{chr(code)}min = 1"
    [found] = hidden_in(line)
    assert found.is_grave
    assert found.name == f"U+{code:04X}"
    assert escaped(line).isprintable()
    assert f"{code:x}" in escaped(line)


@pytest.mark.parametrize("char", "\f\u00a0\u2003\u202f\u3000")
def test_a_blank_of_another_kind_is_named_and_not_grave(char: str) -> None:
    [found] = hidden_in(f"twenty{char}apples")
    assert (found.char, found.is_grave) == (char, False)


@pytest.mark.parametrize(
    "text", ["❤\ufe0f", "👩\u200d👩", "1\ufe0f\u20e3", "می\u200cخواهم", "©\ufe0e"]
)
def test_what_joins_and_varies_signs_of_a_script_is_not_grave(text: str) -> None:
    assert [found.is_grave for found in hidden_in(text)] == [False]


@pytest.mark.parametrize("text", ["ad\ufe0fmin", "x\u200dy", "\ufe0f", "❤\ufe0f\ufe0e\u200c"])
def test_a_joiner_that_joins_nothing_is_grave(text: str) -> None:
    assert hidden_in(text)[-1].is_grave


@pytest.mark.parametrize("text", ["", "\tx = 1", "x = 1\r", "é 漢 かな 👩 ع", "⠁ …", "\\u202e"])
def test_text_that_is_seen_whole_holds_none(text: str) -> None:
    assert hidden_in(text) == ()
    assert escaped(text.removesuffix("\r")) == text.removesuffix("\r")


def test_a_mark_of_byte_order_is_usual_only_where_a_file_begins() -> None:
    assert hidden_in("\ufeffx", is_first=True) == ()
    assert hidden_in("\ufeffx") != ()
    assert hidden_in("x\ufeff", is_first=True) != ()


def test_a_return_is_usual_only_where_a_line_ends() -> None:
    assert [found.name for found in hidden_in("a\rb\r")] == ["U+000D"]


def test_a_name_stays_in_one_line() -> None:
    assert escaped_line("a\n\tb\u202egp.py") == "a\\x0a\\x09b\\u202egp.py"
    assert escaped_line("naïve 漢.py") == "naïve 漢.py"
    assert escaped_line("\U000e0041") == "\\U000e0041"


def test_what_is_written_as_its_number_hides_nothing_more() -> None:
    every = "".join(map(chr, UNSEEN))
    assert not any(map(is_hidden, escaped(every)))
    assert escaped(escaped(every)) == escaped(every)


def test_every_kind_is_told_once_a_line_however_often_it_stands_there() -> None:
    line = "a\u00a0b\u200dc" * 1000 + "👩\u200d👩"
    assert [(found.name, found.is_grave) for found in hidden_in(line)] == [
        ("U+00A0", False),
        ("U+200D", True),
        ("U+200D", False),
    ]

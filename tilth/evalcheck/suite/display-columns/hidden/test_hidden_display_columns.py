import pytest

from columns import fit, width
from table import render

ACCENT = "\u0301"
JOINER = "\u200d"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("ＡＢ", 4),
        ("，", 2),
        ("ｱ", 1),
        ("한", 2),
        ("e" + ACCENT * 3, 1),
        ("a" + JOINER + "b", 2),
        ("\u200bx", 1),
        ("a\u20dd", 1),
        ("α", 1),
        ("\ufeff", 0),
    ],
)
def test_the_width_of_odd_characters(text, columns):
    assert width(text) == columns


TEXTS = ["", "a", "abcdef", "東京都庁", "a東b京c", "ＡＢＣ", "cafe" + ACCENT + " noir", "e" + ACCENT + "東" + ACCENT]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("columns", range(1, 10))
def test_the_text_is_as_wide_as_asked(text, columns):
    fitted = fit(text, columns)
    assert width(fitted) == columns
    if width(text) <= columns:
        assert fitted == text + " " * (columns - width(text))
    else:
        head, _, tail = fitted.partition("…")
        assert text.startswith(head)
        assert tail in ("", " ")


def test_half_a_wide_character_is_a_blank_after_the_ellipsis():
    assert fit("東京都", 4) == "東… "
    assert fit("東京", 2) == "… "
    assert fit("東", 1) == "…"
    assert fit("a東京", 3) == "a… "


def test_as_much_as_fits_is_kept():
    assert fit("東京都", 5) == "東京…"
    assert fit("a東京", 4) == "a東…"
    assert fit("abc", 2) == "a…"


def test_an_accent_on_the_last_letter_kept_is_kept():
    assert fit("cafe" + ACCENT + "teria", 5) == "cafe" + ACCENT + "…"
    assert fit("e" + ACCENT * 2 + "ab", 2) == "e" + ACCENT * 2 + "…"


def test_an_accent_of_a_letter_left_out_is_left_out():
    assert fit("abce" + ACCENT + "f", 4) == "abc…"
    assert fit("ab東" + ACCENT + "c", 4) == "ab… "


def test_an_accent_at_the_end_of_a_text_that_fits_is_kept():
    assert fit("cafe" + ACCENT, 4) == "cafe" + ACCENT
    assert fit("e" + ACCENT, 3) == "e" + ACCENT + "  "


@pytest.mark.parametrize("text", ["", "a", "東"])
@pytest.mark.parametrize("columns", [0, -5])
def test_no_columns_are_refused(text, columns):
    with pytest.raises(ValueError):
        fit(text, columns)


def test_a_table_with_a_wide_header_and_accents():
    table = render(["都市名", "x"], [["e" + ACCENT + "a", "1"], ["abc", "2"]])
    assert table.splitlines() == ["都市名  x", "e" + ACCENT + "a      1", "abc     2"]


def test_a_table_keeps_to_its_widest():
    table = render(["n", "x"], [["東京都庁", "1"], ["a", "2"]], widest=6)
    assert table.splitlines() == ["n       x", "東京…   1", "a       2"]
    assert render(["n"], [["東京"]], widest=4).splitlines() == ["n", "東京"]

import pytest

from columns import fit, width
from table import render


# AC-1
@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("abc", 3), ("東京", 4), ("e\u0301", 1), ("né", 2)]
)
def test_the_width_of_a_text(text, columns):
    assert width(text) == columns


# AC-2
def test_a_text_that_fits_is_filled():
    assert fit("ab", 4) == "ab  "
    assert fit("東京", 6) == "東京  "
    assert fit("東京", 4) == "東京"


# AC-3
def test_a_text_that_is_too_wide_is_cut():
    assert fit("abcdef", 4) == "abc…"
    assert fit("東京都", 5) == "東京…"


# AC-4
def test_an_accent_stays_with_its_letter():
    assert fit("cafe\u0301 noir", 6) == "cafe\u0301 …"


# AC-5
@pytest.mark.parametrize("columns", [0, -1])
def test_no_columns_at_all_are_refused(columns):
    with pytest.raises(ValueError):
        fit("a", columns)


# AC-6
def test_a_table_lines_up():
    table = render(["city", "line"], [["東京", "A"], ["大阪市", "B"]])
    assert table.splitlines() == ["city    line", "東京    A", "大阪市  B"]

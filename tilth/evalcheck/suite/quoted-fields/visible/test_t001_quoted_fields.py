import pytest

from fields import split_line
from importer import read_rows


# AC-1
def test_a_semicolon_in_quotes_belongs_to_the_field():
    assert split_line('17;"Miller; Sons";open') == ["17", "Miller; Sons", "open"]


# AC-2
def test_two_quotes_in_a_quoted_field_are_one():
    assert split_line('"the ""old"" mill";3') == ['the "old" mill', "3"]


# AC-3
def test_empty_fields_stay():
    assert split_line("a;;b") == ["a", "", "b"]
    assert split_line("") == [""]


# AC-4
def test_a_quote_inside_a_plain_field_is_an_ordinary_character():
    assert split_line('the "old" mill;12') == ['the "old" mill', "12"]


# AC-5
def test_a_quote_that_is_never_closed_is_refused():
    with pytest.raises(ValueError):
        split_line('1;"open')


def test_the_importer_reads_quoted_names():
    rows = read_rows(["id;name\n", '1;"A; B"\n'])
    assert rows == [{"id": "1", "name": "A; B"}]

import pytest

from fields import split_line


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ('"a;b"', ["a;b"]),
        ('"a";"b;c";d', ["a", "b;c", "d"]),
        ('""', [""]),
        ('"";x', ["", "x"]),
        ('x;""', ["x", ""]),
        ('""""', ['"']),
        ('"a"""', ['a"']),
        ('""";"', ['";']),
        ('"a"";""b"', ['a";"b']),
    ],
)
def test_quoted_fields(line, fields):
    assert split_line(line) == fields


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("a;", ["a", ""]),
        (";", ["", ""]),
        (";;", ["", "", ""]),
        ('"a";', ["a", ""]),
        (" a ; b", [" a ", " b"]),
        ('" a ";b ', [" a ", "b "]),
        ("", [""]),
    ],
)
def test_blanks_and_empty_fields_stay(line, fields):
    assert split_line(line) == fields


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ('5" pipe;6" pipe', ['5" pipe', '6" pipe']),
        ('a"b;c"d;e', ['a"b', 'c"d', "e"]),
        ('a""b', ['a""b']),
        (' "a;b', [' "a', "b"]),
        ('pipe 5"', ['pipe 5"']),
    ],
)
def test_a_quote_that_does_not_begin_its_field_is_ordinary(line, fields):
    assert split_line(line) == fields


@pytest.mark.parametrize("line", ['"', '"a', '"a;b', 'x;"a""', '"a"b', '"a" ;b', '"a"b"', '"a" "b"'])
def test_a_field_that_is_not_closed_as_it_should_is_refused(line):
    with pytest.raises(ValueError):
        split_line(line)

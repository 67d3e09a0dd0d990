from wrapping import paragraphs, wrap


def test_lines_are_filled():
    assert wrap("one two three four", 9) == ["one two", "three", "four"]


def test_paragraphs_stay_apart():
    assert wrap("one\ntwo\n\nthree", 20) == ["one two", "", "three"]
    assert paragraphs("\n\n a\n \nb\n") == ["a", "b"]


def test_an_empty_text_has_no_lines():
    assert wrap("", 10) == []

from pathlib import Path

import pytest

from wrapping import WrapError, wrap


# AC-1
def test_lines_after_the_first_hang():
    assert wrap("- dig the bed and rake it", 12, "  ") == ["- dig the", "  bed and", "  rake it"]


# AC-1
def test_each_paragraph_begins_anew():
    assert wrap("aa bb\n\ncc dd", 4, " ") == ["aa", " bb", "", "cc", " dd"]


# AC-2
def test_a_long_word_is_broken():
    assert wrap("see abcdefghij or", 6, "  ") == ["see", "  abcd", "  efgh", "  ij", "  or"]
    assert wrap("abcdefg hi", 5) == ["abcde", "fg hi"]


# AC-3
@pytest.mark.parametrize(("width", "hanging"), [(2, "  "), (0, ""), (1, "  ")])
def test_a_width_too_small_is_refused(width, hanging):
    with pytest.raises(WrapError):
        wrap("a", width, hanging)


# AC-4
def test_there_are_tests():
    path = Path(__file__).parent / "test_hanging.py"
    assert "def test_" in path.read_text(encoding="utf-8")

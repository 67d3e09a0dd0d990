import pytest

from feed import page
from notes import Note

NOTES = [Note(id, 1000 + id, f"note {id}") for id in range(1, 8)]


def ids(page):
    return [note.id for note in page.items]


# AC-1, AC-2
def test_page_after_page():
    first = page(NOTES, 3)
    second = page(NOTES, 3, after=first.next)
    third = page(NOTES, 3, after=second.next)
    assert (ids(first), ids(second), ids(third)) == ([7, 6, 5], [4, 3, 2], [1])
    assert isinstance(first.next, str)
    assert third.next is None


# AC-3
def test_notes_of_one_second_come_in_the_order_of_their_ids():
    notes = [Note(1, 50, "a"), Note(3, 50, "b"), Note(2, 50, "c"), Note(4, 40, "d")]
    assert ids(page(notes, 10)) == [3, 2, 1, 4]


# AC-4
def test_a_new_note_does_not_shift_the_next_page():
    first = page(NOTES, 3)
    later = [*NOTES, Note(9, 2000, "new")]
    assert ids(page(later, 3, after=first.next)) == [4, 3, 2]


# AC-5
@pytest.mark.parametrize("limit", [0, -1, 101])
def test_a_limit_out_of_range_is_refused(limit):
    with pytest.raises(ValueError):
        page(NOTES, limit)


@pytest.mark.parametrize("cursor", ["", "nonsense"])
def test_a_cursor_of_no_known_form_is_refused(cursor):
    with pytest.raises(ValueError):
        page(NOTES, 3, after=cursor)

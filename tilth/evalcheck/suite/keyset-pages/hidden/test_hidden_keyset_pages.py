import pytest

from feed import newest_first, page
from notes import Note

NOTES = [Note(id, 1000 + id, f"note {id}") for id in range(1, 8)]
BURST = [Note(id, 500 + id // 10, "import") for id in (5, 1, 17, 3, 12, 11, 19, 2, 8, 16, 4)]

MIXED = [Note(9, 10, "a"), Note(1, 30, "b"), Note(5, 20, "c"), Note(7, 20, "d"), Note(2, 40, "e")]


def ids(page):
    return [note.id for note in page.items]


def walk(notes, limit):
    found, after, pages = [], None, 0
    while pages < 50:
        got = page(notes, limit, after=after)
        assert len(got.items) <= limit
        found += got.items
        pages += 1
        if got.next is None:
            return found, pages
        after = got.next
    raise AssertionError("the pages never end")


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7, 11, 12, 100])
@pytest.mark.parametrize("notes", [NOTES, BURST, MIXED])
def test_every_note_comes_once(notes, limit):
    found, pages = walk(notes, limit)
    assert found == newest_first(notes)
    assert pages == -(-len(notes) // limit)


def test_the_last_full_page_has_no_next():
    assert page(NOTES, 7).next is None
    assert page(NOTES[:6], 3, after=page(NOTES[:6], 3).next).next is None


def test_no_notes_at_all():
    empty = page([], 5)
    assert (list(empty.items), empty.next) == ([], None)


def test_the_note_at_the_cursor_may_be_deleted():
    first = page(NOTES, 3)
    left = [note for note in NOTES if note.id != 5]
    assert ids(page(left, 3, after=first.next)) == [4, 3, 2]


def test_notes_of_a_page_already_seen_may_be_deleted():
    first = page(NOTES, 3)
    left = [note for note in NOTES if note.id not in (5, 6, 7)]
    assert ids(page(left, 3, after=first.next)) == [4, 3, 2]


def test_the_note_after_the_cursor_may_be_deleted():
    first = page(NOTES, 3)
    left = [note for note in NOTES if note.id != 4]
    assert ids(page(left, 3, after=first.next)) == [3, 2, 1]


def test_new_notes_of_the_second_of_the_cursor():
    notes = [Note(id, 50, "a") for id in (2, 4, 6, 8)]
    first = page(notes, 2)
    assert ids(first) == [8, 6]
    more = [*notes, Note(5, 50, "new"), Note(9, 50, "new")]
    assert ids(page(more, 2, after=first.next)) == [5, 4]


def test_everything_behind_the_cursor_may_be_deleted():
    first = page(NOTES, 3)
    rest = page([note for note in NOTES if note.id > 4], 3, after=first.next)
    assert (list(rest.items), rest.next) == ([], None)


def test_the_limit_may_change():
    first = page(NOTES, 2)
    assert ids(page(NOTES, 4, after=first.next)) == [5, 4, 3, 2]


def test_the_largest_page():
    notes = [Note(id, id, "x") for id in range(150)]
    assert len(page(notes, 100).items) == 100
    assert len(page(notes, 1).items) == 1


@pytest.mark.parametrize("cursor", ["", "x", "1", ":", "a:b", "1:", ":1", "1:2:3", "{}"])
def test_odd_cursors_are_refused(cursor):
    with pytest.raises(ValueError):
        page(NOTES, 3, after=cursor)


def test_the_callers_notes_are_left_alone():
    notes = list(BURST)
    page(notes, 3)
    assert notes == BURST

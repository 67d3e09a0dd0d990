import pytest

from document import Document
from history import History


@pytest.fixture
def document():
    return Document("one two")


# AC-1
def test_undo_and_redo(document):
    history = History(document)
    history.edit(0, 3, "ONE")
    history.edit(4, 7, "TWO")
    assert (history.undo(), history.undo(), history.undo()) == (True, True, False)
    assert document.text == "one two"
    assert (history.redo(), history.redo(), history.redo()) == (True, True, False)
    assert document.text == "ONE TWO"


# AC-2
def test_a_new_edit_discards_what_could_be_redone(document):
    history = History(document)
    history.edit(0, 3, "1")
    history.undo()
    history.edit(4, 7, "2")
    assert not history.redo()
    assert document.text == "one 2"


# AC-3
def test_a_group_is_one_step(document):
    history = History(document)
    with history.group():
        history.edit(4, 7, "2")
        history.edit(0, 3, "1")
    assert history.undo()
    assert document.text == "one two"
    assert history.redo()
    assert document.text == "1 2"


# AC-4
def test_an_exception_leaves_a_group(document):
    history = History(document)
    with pytest.raises(KeyError), history.group():
        raise KeyError("x")
    assert document.text == "one two"
    assert not history.undo()


# AC-5
def test_old_steps_are_forgotten(document):
    history = History(document, limit=2)
    for character in "abc":
        history.edit(0, 0, character)
    assert [history.undo() for _ in range(3)] == [True, True, False]
    assert document.text == "aone two"


def test_a_limit_of_nothing_is_refused(document):
    with pytest.raises(ValueError):
        History(document, limit=0)


# AC-6
def test_a_refused_edit_leaves_no_step(document):
    history = History(document)
    with pytest.raises(IndexError):
        history.edit(5, 99, "x")
    assert not history.undo()

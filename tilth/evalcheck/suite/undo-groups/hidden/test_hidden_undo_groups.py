import pytest

from document import Document
from history import History


@pytest.fixture
def document():
    return Document("")


def write(history, document, text):
    for character in text:
        history.edit(len(document.text), len(document.text), character)


def undone(history):
    steps = 0
    while steps < 1000 and history.undo():
        steps += 1
    return steps


def test_edits_of_a_group_that_build_on_each_other(document):
    history = History(document)
    with history.group():
        history.edit(0, 0, "abcdef")
        history.edit(1, 4, "X")
        history.edit(0, 2, "long text")
        history.edit(4, 9, "")
    assert document.text == "longef"
    for _ in range(3):
        assert history.undo()
        assert document.text == ""
        assert history.redo()
        assert document.text == "longef"


def test_a_group_in_a_group_belongs_to_the_outer_one(document):
    history = History(document)
    write(history, document, "a")
    with history.group():
        write(history, document, "b")
        with history.group():
            write(history, document, "c")
        write(history, document, "d")
    assert history.undo()
    assert document.text == "a"
    assert history.redo()
    assert document.text == "abcd"
    assert undone(history) == 2


def test_an_empty_group_is_no_step_and_discards_nothing(document):
    history = History(document)
    write(history, document, "ab")
    history.undo()
    with history.group(), history.group():
        pass
    assert history.redo()
    assert document.text == "ab"
    assert undone(history) == 2


def test_edits_of_a_group_that_fails_are_taken_back(document):
    history = History(document)
    write(history, document, "ab")
    with pytest.raises(KeyError), history.group():
        write(history, document, "cd")
        history.edit(0, 2, "")
        raise KeyError("x")
    assert document.text == "ab"
    assert undone(history) == 2
    assert document.text == ""


def test_after_a_group_that_failed_edits_are_single_again(document):
    history = History(document)
    with pytest.raises(KeyError), history.group():
        write(history, document, "x")
        raise KeyError("x")
    write(history, document, "ab")
    assert history.undo()
    assert document.text == "a"


def test_an_inner_group_that_fails_takes_back_its_own_edits_when_it_is_caught(document):
    history = History(document)
    with history.group():
        write(history, document, "a")
        try:
            with history.group():
                write(history, document, "b")
                raise KeyError("x")
        except KeyError:
            pass
        write(history, document, "c")
    assert document.text == "ac"
    assert undone(history) == 1
    assert document.text == ""


def test_a_refused_edit_in_a_group_that_goes_on(document):
    history = History(document)
    with history.group():
        write(history, document, "a")
        with pytest.raises(IndexError):
            history.edit(5, 9, "x")
        write(history, document, "b")
    assert document.text == "ab"
    assert undone(history) == 1
    assert document.text == ""


def test_a_refused_edit_keeps_what_can_be_redone(document):
    history = History(document)
    write(history, document, "a")
    history.undo()
    with pytest.raises(IndexError):
        history.edit(3, 9, "x")
    assert history.redo()
    assert document.text == "a"


def test_the_limit_counts_steps_and_not_edits(document):
    history = History(document, limit=2)
    with history.group():
        write(history, document, "abcde")
    with history.group():
        write(history, document, "fgh")
    assert undone(history) == 2
    assert document.text == ""


def test_a_group_pushes_an_old_step_out(document):
    history = History(document, limit=1)
    write(history, document, "a")
    with history.group():
        write(history, document, "bc")
    assert undone(history) == 1
    assert document.text == "a"


def test_a_step_done_again_counts(document):
    history = History(document, limit=2)
    write(history, document, "abc")
    history.undo()
    history.undo()
    history.redo()
    history.redo()
    assert document.text == "abc"
    assert undone(history) == 2
    assert document.text == "a"


def test_a_group_discards_what_could_be_redone(document):
    history = History(document)
    write(history, document, "ab")
    history.undo()
    with history.group():
        write(history, document, "c")
    assert not history.redo()
    assert document.text == "ac"


def test_the_limit_is_a_hundred_unless_said(document):
    history = History(document)
    write(history, document, "x" * 130)
    assert undone(history) == 100
    with pytest.raises(ValueError):
        History(document, limit=-1)

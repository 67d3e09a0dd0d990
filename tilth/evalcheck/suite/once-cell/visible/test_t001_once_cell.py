import threading

import pytest

from lazy import Lazy


# AC-1
def test_two_threads_make_one_value():
    entered, second = threading.Event(), threading.Event()
    made = []

    def factory():
        made.append(object())
        if entered.is_set():
            second.set()
        entered.set()
        second.wait(0.2)
        return made[-1]

    cell = Lazy(factory)
    given = []
    threads = [threading.Thread(target=lambda: given.append(cell.get()), daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert entered.wait(5)
    for thread in threads:
        thread.join(5)
    assert len(made) == 1
    assert given == [made[0], made[0]]


# AC-2
def test_none_is_made_once():
    made = []
    cell = Lazy(lambda: made.append(1))
    assert not cell.is_made
    assert cell.get() is None
    assert cell.get() is None
    assert made == [1]


# AC-3
def test_a_factory_that_fails_is_let_out():
    def factory():
        raise OSError("no network")

    cell = Lazy(factory)
    with pytest.raises(OSError, match="no network"):
        cell.get()
    assert not cell.is_made


# AC-4
def test_made_or_not():
    cell = Lazy(lambda: 7)
    assert not cell.is_made
    assert cell.get() == 7
    assert cell.is_made


# AC-5
def test_a_factory_that_asks_for_itself():
    cell = Lazy(lambda: cell.get())
    caught = []

    def ask():
        try:
            cell.get()
        except RuntimeError as error:
            caught.append(type(error))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(2)
    assert caught == [RuntimeError]

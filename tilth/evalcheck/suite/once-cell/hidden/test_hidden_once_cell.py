import threading

import pytest

from lazy import Lazy


def start(target):
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def finish(*threads):
    for thread in threads:
        thread.join(3)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for ever"


def within(function):
    """Call in a thread, so that a call that waits for ever fails the test; give what came of it."""
    came = []

    def run():
        try:
            came.append(function())
        except (OSError, RuntimeError) as error:
            came.append(error)

    finish(start(run))
    return came[0]


def test_many_threads_get_the_very_same_object():
    started = threading.Barrier(8)
    made, given = [], []

    def factory():
        made.append(object())
        return made[-1]

    cell = Lazy(factory)

    def ask():
        started.wait(3)
        given.append(cell.get())

    finish(*(start(ask) for _ in range(8)))
    assert len(made) == 1
    assert [value is made[0] for value in given] == [True] * 8


def test_a_later_call_works_after_a_failure():
    steps = iter([OSError("first"), OSError("second"), "pool"])
    runs = []

    def factory():
        runs.append(1)
        step = next(steps)
        if isinstance(step, Exception):
            raise step
        return step

    cell = Lazy(factory)
    for message in ("first", "second"):
        failed = within(cell.get)
        assert isinstance(failed, OSError)
        assert str(failed) == message
        assert not cell.is_made
    assert within(cell.get) == "pool"
    assert within(cell.get) == "pool"
    assert len(runs) == 3


def test_a_thread_that_waited_runs_the_factory_anew_after_a_failure():
    entered, release = threading.Event(), threading.Event()
    asking = threading.Event()
    runs, came = [], {}

    def factory():
        runs.append(threading.current_thread().name)
        if len(runs) == 1:
            entered.set()
            release.wait(3)
            raise OSError("first")
        return "pool"

    cell = Lazy(factory)

    def ask():
        name = threading.current_thread().name
        if name == "second":
            asking.set()
        try:
            came[name] = cell.get()
        except OSError as error:
            came[name] = str(error)

    first = threading.Thread(target=ask, name="first", daemon=True)
    first.start()
    assert entered.wait(3)
    second = threading.Thread(target=ask, name="second", daemon=True)
    second.start()
    assert asking.wait(3)
    second.join(0.3)
    assert runs == ["first"], "a second factory ran beside the first"
    release.set()
    finish(first, second)
    assert runs == ["first", "second"]
    assert came == {"first": "first", "second": "pool"}


def test_to_look_does_not_wait():
    entered, release = threading.Event(), threading.Event()

    def factory():
        entered.set()
        release.wait(5)
        return 1

    cell = Lazy(factory)
    maker = start(cell.get)
    assert entered.wait(3)
    seen = []
    looker = start(lambda: seen.append(cell.is_made))
    looker.join(2)
    waited = looker.is_alive()
    release.set()
    finish(maker, looker)
    assert not waited
    assert seen == [False]
    assert cell.is_made


@pytest.mark.parametrize("value", [None, 0, "", False, ()])
def test_every_value_counts(value):
    runs = []

    def factory():
        runs.append(1)
        return value

    cell = Lazy(factory)
    assert within(cell.get) == value
    assert cell.is_made
    assert within(cell.get) == value
    assert len(runs) == 1


def test_a_factory_that_asks_for_itself_leaves_the_cell_usable():
    runs = []

    def factory():
        runs.append(1)
        return cell.get() if len(runs) == 1 else "pool"

    cell = Lazy(factory)
    assert isinstance(within(cell.get), RuntimeError)
    assert not isinstance(within(lambda: cell.is_made), Exception)
    assert not cell.is_made
    assert within(cell.get) == "pool"
    assert len(runs) == 2


def test_a_factory_that_catches_the_refusal_still_makes_its_value():
    def factory():
        try:
            cell.get()
        except RuntimeError:
            return "alone"
        return "circle"

    cell = Lazy(factory)
    assert within(cell.get) == "alone"
    assert within(cell.get) == "alone"


def test_an_exception_of_any_kind_leaves_the_cell_usable():
    steps = [KeyboardInterrupt(), SystemExit(2), "pool"]

    def factory():
        step = steps.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step

    cell = Lazy(factory)
    for kind in (KeyboardInterrupt, SystemExit):
        with pytest.raises(kind):
            cell.get()
    assert within(cell.get) == "pool"


def test_two_cells_may_need_each_other_one_way():
    inner = Lazy(lambda: 1)
    outer = Lazy(lambda: inner.get() + 1)
    assert within(outer.get) == 2
    assert inner.is_made

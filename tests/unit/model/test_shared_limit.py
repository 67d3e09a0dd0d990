"""A rate limit that lanes share: one lane's wait is everybody's, and nobody stampedes after it."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tilth.base.errors import Interrupted
from tilth.model.shared_limit import SharedLimit


class Clock:
    """A clock that goes on only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def in_a_lane(work: Callable[[], None]) -> None:
    """Do something in a thread of its own and wait for it."""
    faults: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except Interrupted as error:
            faults.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(10)
    if faults:
        raise faults[0]


def test_without_a_limit_nobody_waits() -> None:
    clock = Clock()
    with SharedLimit(clock, clock.sleep).turn():
        pass
    assert clock.slept == []


def test_what_one_lane_is_told_the_others_wait() -> None:
    clock = Clock()
    limit = SharedLimit(clock, clock.sleep)
    in_a_lane(lambda: limit.wait(3.0))

    with limit.turn():
        assert clock.now >= 3.0


def test_whoever_was_told_waits_by_himself() -> None:
    clock = Clock()
    limit = SharedLimit(clock, clock.sleep)
    limit.wait(3.0)
    with limit.turn():
        assert clock.slept == []


def test_an_answer_ends_the_limit_and_a_failure_does_not() -> None:
    clock = Clock()
    limit = SharedLimit(clock, clock.sleep)
    in_a_lane(lambda: limit.wait(1.0))
    with pytest.raises(ValueError, match="again"), limit.turn():
        raise ValueError("again")
    in_a_lane(lambda: limit.wait(2.0))
    with limit.turn():
        assert clock.now >= 3.0
    before = len(clock.slept)
    with limit.turn():
        assert len(clock.slept) == before


def test_after_a_limit_one_tries_at_a_time() -> None:
    clock = Clock()
    limit = SharedLimit(clock, lambda seconds: None)
    limit.wait(0.0)
    inside = threading.Event()
    leave = threading.Event()
    order: list[str] = []

    def first() -> None:
        with limit.turn():
            order.append("first in")
            inside.set()
            leave.wait(120)
            order.append("first out")

    def second() -> None:
        inside.wait(10)
        leave.set()
        with limit.turn():
            order.append("second in")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert order == ["first in", "first out", "second in"]


def test_a_wish_to_stop_ends_the_wait() -> None:
    clock = Clock()

    def stop(seconds: float) -> None:
        raise Interrupted("stopped by the user")

    limit = SharedLimit(clock, stop)
    in_a_lane(lambda: limit.wait(60.0))
    with pytest.raises(Interrupted), limit.turn():
        pass

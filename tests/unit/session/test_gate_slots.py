"""The slots of several gates: so many commands at a time, the most urgent first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from tilth.base.errors import Halted
from tilth.base.interrupt import Interrupt
from tilth.session.gate_slots import GateSlots, gates_at_once


@pytest.mark.parametrize(("cores", "places"), [(1, 1), (2, 1), (3, 1), (4, 2), (16, 8)])
def test_gates_have_half_the_cores_and_at_least_one(cores: int, places: int) -> None:
    assert gates_at_once(cores) == places


class Visitor:
    """Go in and stay until told; tells when it asked and when it is in."""

    def __init__(self, pool: ThreadPoolExecutor, door: AbstractContextManager[None]) -> None:
        self.inside, self._go = threading.Event(), threading.Event()
        self.gone = pool.submit(self._visit, door)

    def _visit(self, door: AbstractContextManager[None]) -> None:
        with door:
            self.inside.set()
            assert self._go.wait(60)

    def leave(self) -> None:
        self._go.set()
        self.gone.result(60)


def _in_line(slots: GateSlots, count: int) -> None:
    """Wait until so many stand in line."""
    while slots.waiting < count:
        threading.Event().wait(0.001)


def test_those_who_wait_come_in_as_they_came() -> None:
    slots = GateSlots(1, Interrupt())
    with ThreadPoolExecutor(4) as pool:
        first = Visitor(pool, slots.handle().taken())
        assert first.inside.wait(60)
        others = []
        for number in range(1, 4):
            others.append(Visitor(pool, slots.handle().taken()))
            _in_line(slots, number)
        for before, after in zip([first, *others], others, strict=False):
            assert not after.inside.is_set()
            before.leave()
            assert after.inside.wait(60)
        others[-1].leave()


def test_whoever_is_to_land_first_comes_in_first() -> None:
    slots = GateSlots(1, Interrupt())
    with ThreadPoolExecutor(3) as pool:
        first = Visitor(pool, slots.handle(7).taken())
        assert first.inside.wait(60)
        last = Visitor(pool, slots.handle(3).taken())
        _in_line(slots, 1)
        landing = Visitor(pool, slots.handle(0).taken())
        _in_line(slots, 2)
        first.leave()
        assert landing.inside.wait(60)
        assert not last.inside.is_set()
        landing.leave()
        assert last.inside.wait(60)
        last.leave()


def test_as_many_are_in_at_once_as_there_are_places() -> None:
    slots = GateSlots(2, Interrupt())
    with ThreadPoolExecutor(3) as pool:
        two = [Visitor(pool, slots.handle().taken()) for _ in range(2)]
        assert all(one.inside.wait(60) for one in two)
        third = Visitor(pool, slots.handle().taken())
        _in_line(slots, 1)
        assert not third.inside.is_set()
        two[0].leave()
        assert third.inside.wait(60)
        two[1].leave()
        third.leave()


def test_whoever_finds_out_about_a_base_still_takes_places() -> None:
    slots = GateSlots(1, Interrupt())
    with slots.handle().alone(), slots.handle().taken():
        pass


def test_a_stop_is_heard_in_line_and_whoever_left_it_holds_nobody_up() -> None:
    interrupt = Interrupt()
    slots = GateSlots(1, interrupt)
    with ThreadPoolExecutor(2) as pool:
        first = Visitor(pool, slots.handle().taken())
        assert first.inside.wait(60)
        second = Visitor(pool, slots.handle().taken())
        _in_line(slots, 1)
        interrupt.halted = True
        with pytest.raises(Halted):
            second.gone.result(60)
        interrupt.halted = False
        first.leave()
    with slots.handle().taken():
        pass

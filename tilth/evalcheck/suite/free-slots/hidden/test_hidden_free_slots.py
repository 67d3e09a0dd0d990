import random

import pytest

from rooms import Span, free_slots


def reference(bookings, opens, closes, at_least=1):
    taken = {minute for start, end in bookings for minute in range(start, end)}
    slots, start = [], None
    for minute in range(opens, closes + 1):
        free = minute < closes and minute not in taken
        if free and start is None:
            start = minute
        if not free and start is not None:
            slots.append(Span(start, minute))
            start = None
    return [slot for slot in slots if slot.end - slot.start >= at_least]


@pytest.mark.parametrize("seed", range(40))
def test_as_counted_minute_by_minute(seed):
    chance = random.Random(seed)
    bookings = []
    for _ in range(chance.randrange(8)):
        start = chance.randrange(0, 115)
        bookings.append(Span(start, start + chance.randrange(1, 40)))
    at_least = chance.choice([1, 2, 5, 10])
    given = list(bookings)
    found = free_slots(bookings, 20, 100, at_least=at_least)
    assert found == reference(given, 20, 100, at_least)
    assert bookings == given


def test_a_booking_inside_another_frees_nothing():
    assert free_slots([Span(500, 900), Span(600, 660)], 480, 1080) == [Span(480, 500), Span(900, 1080)]


def test_bookings_outside_the_hours_change_nothing():
    assert free_slots([Span(300, 420), Span(1100, 1200)], 480, 1080) == [Span(480, 1080)]
    assert free_slots([Span(420, 480), Span(1080, 1100)], 480, 1080) == [Span(480, 1080)]


def test_a_booking_around_the_whole_day_leaves_nothing():
    assert free_slots([Span(0, 1440)], 480, 1080) == []


def test_a_slot_of_just_the_asked_length_is_kept():
    assert free_slots([Span(480, 600), Span(615, 1080)], 480, 1080, at_least=15) == [Span(600, 615)]
    assert free_slots([Span(495, 1065)], 480, 1080, at_least=15) == [Span(480, 495), Span(1065, 1080)]


def test_the_callers_list_is_not_changed():
    bookings = [Span(660, 720), Span(540, 600)]
    free_slots(bookings, 480, 1080)
    assert bookings == [Span(660, 720), Span(540, 600)]
    assert free_slots((Span(660, 720), Span(540, 600)), 640, 1080) == [Span(640, 660), Span(720, 1080)]


@pytest.mark.parametrize("booking", [Span(600, 540), Span(600, 600), Span(1300, 1200), Span(10, 10)])
def test_a_booking_without_length_is_refused(booking):
    with pytest.raises(ValueError):
        free_slots([Span(500, 510), booking], 480, 1080)


def test_slots_are_spans():
    assert all(isinstance(slot, Span) for slot in free_slots([Span(500, 510)], 480, 1080))

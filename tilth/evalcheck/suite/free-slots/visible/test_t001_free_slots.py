import pytest

from board import line
from rooms import Span, free_slots


# AC-1
def test_the_slots_between_bookings():
    bookings = [Span(540, 600), Span(660, 720)]
    assert free_slots(bookings, 480, 1080) == [Span(480, 540), Span(600, 660), Span(720, 1080)]


def test_a_room_without_bookings_is_free_all_day():
    assert [line(slot) for slot in free_slots([], 480, 1080)] == ["08:00-18:00"]


# AC-2
def test_bookings_in_any_order_that_overlap_or_touch():
    bookings = [Span(660, 720), Span(540, 600), Span(590, 630), Span(720, 780)]
    assert free_slots(bookings, 540, 1080) == [Span(630, 660), Span(780, 1080)]


# AC-3
def test_a_booking_that_begins_before_the_house_opens():
    assert free_slots([Span(420, 500)], 480, 1080) == [Span(500, 1080)]


def test_a_booking_that_ends_after_the_house_closes():
    assert free_slots([Span(1020, 1140)], 480, 1080) == [Span(480, 1020)]


# AC-4
def test_short_slots_are_left_out():
    bookings = [Span(480, 600), Span(610, 700)]
    assert free_slots(bookings, 480, 1080, at_least=15) == [Span(700, 1080)]


# AC-5
def test_a_booking_that_ends_before_it_starts_is_refused():
    with pytest.raises(ValueError):
        free_slots([Span(600, 540)], 480, 1080)

import pytest

from limits import FixedWindow, TokenBucket


class Clock:
    def __init__(self):
        self.now = 64.0

    def __call__(self):
        return self.now


# AC-1, AC-2
def test_a_full_bucket_empties_and_fills_again():
    clock = Clock()
    bucket = TokenBucket(2, 4, clock)
    assert [bucket.allow() for _ in range(5)] == [True, True, True, True, False]
    clock.now += 1
    assert [bucket.allow() for _ in range(3)] == [True, True, False]


def test_a_bucket_never_overflows():
    clock = Clock()
    bucket = TokenBucket(2, 4, clock)
    assert bucket.allow(4)
    clock.now += 100
    assert [bucket.allow() for _ in range(5)] == [True, True, True, True, False]


# AC-2
def test_a_dear_call():
    clock = Clock()
    bucket = TokenBucket(1, 8, clock)
    assert bucket.allow(5)
    assert not bucket.allow(5)
    assert bucket.allow(3)


# AC-3
def test_when_to_come_again():
    clock = Clock()
    bucket = TokenBucket(2, 4, clock)
    assert bucket.retry_in() == 0
    assert bucket.allow(4)
    assert bucket.retry_in(3) == 1.5
    assert bucket.retry_in(3) == 1.5


# AC-4
def test_a_clock_that_steps_back_gives_nothing():
    clock = Clock()
    bucket = TokenBucket(2, 4, clock)
    assert bucket.allow(4)
    clock.now -= 10
    assert not bucket.allow()


# AC-5
@pytest.mark.parametrize("cost", [0, -1, 5])
def test_a_cost_out_of_range_is_refused(cost):
    bucket = TokenBucket(2, 4, Clock())
    with pytest.raises(ValueError):
        bucket.allow(cost)
    with pytest.raises(ValueError):
        bucket.retry_in(cost)


def test_the_fixed_window_stays():
    window = FixedWindow(1, 8, Clock())
    assert [window.allow(), window.allow()] == [True, False]

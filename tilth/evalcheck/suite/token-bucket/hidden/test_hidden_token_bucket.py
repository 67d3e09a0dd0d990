import pytest

from limits import TokenBucket


class Clock:
    def __init__(self):
        self.now = 64.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def drained(clock, rate=2, capacity=4):
    bucket = TokenBucket(rate, capacity, clock)
    assert bucket.allow(capacity)
    return bucket


def test_fractions_of_a_token_add_up_though_asked_often(clock):
    bucket = drained(clock, rate=1)
    answers = []
    for _ in range(8):
        clock.now += 0.25
        answers.append(bucket.allow())
    assert answers == [False, False, False, True, False, False, False, True]


def test_fractions_of_a_second_add_up_though_asked_when_to_come(clock):
    bucket = drained(clock, rate=1)
    for _ in range(4):
        clock.now += 0.25
        bucket.retry_in()
    assert bucket.allow()
    assert not bucket.allow()


def test_a_refusal_takes_nothing(clock):
    bucket = drained(clock)
    clock.now += 1.5
    assert not bucket.allow(4)
    assert not bucket.allow(4)
    assert bucket.allow(3)


def test_the_bucket_is_full_and_no_more_after_a_long_time(clock):
    bucket = drained(clock)
    clock.now += 1
    assert bucket.retry_in(2) == 0
    clock.now += 100
    assert bucket.allow(4)
    assert not bucket.allow(1)


def test_time_when_full_is_not_saved_up(clock):
    bucket = TokenBucket(2, 4, clock)
    clock.now += 50
    assert bucket.retry_in(4) == 0
    clock.now += 50
    assert bucket.allow(4)
    assert bucket.retry_in(1) == 0.5


def test_the_wait_counts_what_is_there(clock):
    bucket = drained(clock)
    clock.now += 0.5
    assert bucket.retry_in(4) == 1.5
    clock.now += 0.25
    assert bucket.retry_in(4) == 1.25
    assert bucket.retry_in(1) == 0
    clock.now += 1.25
    assert bucket.retry_in(4) == 0
    assert bucket.allow(4)


def test_to_wait_as_told_is_enough(clock):
    bucket = drained(clock, rate=4, capacity=8)
    for cost in (1, 3, 8, 5):
        clock.now += bucket.retry_in(cost)
        assert bucket.allow(cost)
        assert bucket.retry_in(cost) == cost / 4


def test_a_step_back_keeps_the_tokens_that_are_there(clock):
    bucket = TokenBucket(2, 4, clock)
    assert bucket.allow(1)
    clock.now -= 30
    assert bucket.retry_in(3) == 0
    assert bucket.allow(3)
    assert not bucket.allow(1)


def test_tokens_trickle_in_again_from_the_new_time(clock):
    bucket = drained(clock)
    clock.now -= 30
    assert not bucket.allow()
    clock.now += 1
    assert bucket.allow(2)
    assert not bucket.allow(1)


def test_a_step_back_and_forth_gains_what_the_way_forth_is_worth(clock):
    bucket = drained(clock, rate=1, capacity=100)
    clock.now -= 10
    assert bucket.retry_in(1) == 1
    clock.now += 10
    assert bucket.allow(10)
    assert not bucket.allow(1)


@pytest.mark.parametrize("cost", [0, -3, 4.5])
def test_a_refused_cost_takes_nothing(clock, cost):
    bucket = TokenBucket(2, 4, clock)
    for method in (bucket.allow, bucket.retry_in):
        with pytest.raises(ValueError):
            method(cost)
    assert bucket.allow(4)


def test_parts_of_a_token_can_be_spent(clock):
    bucket = drained(clock)
    clock.now += 0.25
    assert bucket.allow(0.5)
    assert not bucket.allow(0.5)

import pytest

from cache import Cache


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_at_the_very_second_a_value_is_gone(clock):
    cache = Cache(4, 10, clock)
    cache.put("a", 1)
    clock.now += 10
    assert "a" not in cache
    assert cache.get("a") is None
    assert len(cache) == 0


def test_just_before_a_value_is_there(clock):
    cache = Cache(4, 10, clock)
    cache.put("a", 1)
    clock.now += 9.5
    assert "a" in cache
    assert len(cache) == 1
    assert cache.get("a") == 1


def test_reading_does_not_lengthen_a_life(clock):
    cache = Cache(4, 10, clock)
    cache.put("a", 1)
    clock.now += 6
    assert cache.get("a") == 1
    clock.now += 6
    assert cache.get("a") is None


def test_putting_again_begins_a_new_life(clock):
    cache = Cache(4, 10, clock)
    cache.put("a", 1)
    clock.now += 6
    cache.put("a", 2)
    clock.now += 6
    assert cache.get("a") == 2


def test_the_expired_leave_before_the_live(clock):
    cache = Cache(2, 10, clock)
    cache.put("live", 0)
    cache.put("old", 1)
    clock.now += 6
    cache.put("live", 2)
    cache.get("old")
    clock.now += 6
    cache.put("new", 3)
    assert cache.get("live") == 2
    assert cache.get("new") == 3
    assert len(cache) == 2


def test_the_least_recently_used_leaves_though_it_was_put_later(clock):
    cache = Cache(3, 10, clock)
    for key in "abc":
        cache.put(key, key)
    cache.get("a")
    cache.get("b")
    cache.put("d", "d")
    assert [key for key in "abcd" if key in cache] == ["a", "b", "d"]
    cache.put("e", "e")
    assert [key for key in "abcde" if key in cache] == ["b", "d", "e"]


def test_putting_again_is_a_use_and_costs_nobody_a_place(clock):
    cache = Cache(2, 10, clock)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("a", 3)
    assert cache.get("b") == 2
    cache.put("a", 4)
    cache.put("c", 5)
    assert "b" not in cache
    assert cache.get("a") == 4


def test_replacing_the_newest_costs_the_oldest_nothing(clock):
    cache = Cache(2, 10, clock)
    cache.put("a", 1)
    cache.put("b", 2)
    cache.put("b", 3)
    assert (cache.get("a"), cache.get("b"), len(cache)) == (1, 3, 2)


def test_looking_is_no_use(clock):
    cache = Cache(2, 10, clock)
    cache.put("a", 1)
    cache.put("b", 2)
    assert "a" in cache
    assert len(cache) == 2
    cache.put("c", 3)
    assert "a" not in cache
    assert "b" in cache


def test_a_get_that_finds_nothing_changes_nothing(clock):
    cache = Cache(2, 10, clock)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("z", 7) == 7
    assert len(cache) == 2
    cache.put("c", 3)
    assert "a" not in cache


@pytest.mark.parametrize("value", [None, 0, "", False])
def test_every_value_is_a_value(clock, value):
    cache = Cache(2, 10, clock)
    cache.put("a", value)
    assert cache.get("a", "default") == value
    assert "a" in cache


def test_a_cache_of_one(clock):
    cache = Cache(1, 10, clock)
    cache.put("a", 1)
    cache.put("b", 2)
    assert (cache.get("a"), cache.get("b"), len(cache)) == (None, 2, 1)


@pytest.mark.parametrize(("capacity", "ttl"), [(0, 1), (1, 0)])
def test_sizes_that_make_no_sense_stay_refused(clock, capacity, ttl):
    with pytest.raises(ValueError):
        Cache(capacity, ttl, clock)

from cache import Cache
from stations import cached_lookup


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


# AC-1
def test_a_value_expires():
    clock = Clock()
    cache = Cache(4, 10, clock)
    cache.put("a", 1)
    assert cache.get("a") == 1
    clock.now += 9
    assert "a" in cache
    clock.now += 2
    assert cache.get("a", "gone") == "gone"
    assert "a" not in cache
    assert len(cache) == 0


# AC-2, AC-3
def test_the_least_recently_used_leaves():
    cache = Cache(2, 10, Clock())
    cache.put("a", 1)
    cache.put("b", 2)
    cache.get("a")
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    assert len(cache) == 2


# AC-4
def test_a_value_can_be_replaced():
    cache = Cache(2, 10, Clock())
    cache.put("a", 1)
    cache.put("a", 2)
    assert cache.get("a") == 2
    assert len(cache) == 1


# AC-5
def test_none_is_a_value():
    asked = []
    lookup = cached_lookup(Cache(2, 10, Clock()), asked.append)
    assert lookup("XX") is None
    assert lookup("XX") is None
    assert asked == ["XX"]

import pytest

from freshness import directives, is_fresh, lifetime
from response import Response


def kept(control, **headers):
    return Response(1000, {"Cache-Control": control, **headers})


# AC-1
def test_directives_are_read():
    assert directives("Max-Age=60, no-cache ,private") == {
        "max-age": "60",
        "no-cache": None,
        "private": None,
    }
    assert directives('max-age="60"') == {"max-age": "60"}
    assert directives("") == {}


# AC-2
def test_the_lifetime():
    assert lifetime(kept("max-age=60")) == 60
    assert lifetime(kept("max-age=60, s-maxage=600"), shared=True) == 600
    assert lifetime(Response(1000)) == 0


# AC-3
def test_a_lifetime_that_is_no_number():
    assert lifetime(kept("max-age=soon")) == 0


# AC-4
def test_an_answer_grows_old():
    answer = kept("max-age=60")
    assert is_fresh(answer, 1030)
    assert not is_fresh(answer, 1090)
    assert not is_fresh(kept("max-age=60", Age="50"), 1030)


# AC-5
@pytest.mark.parametrize("control", ["no-store, max-age=60", "max-age=60, no-cache"])
def test_what_is_never_fresh(control):
    assert not is_fresh(kept(control), 1001)


def test_what_a_shared_cache_may_not_hand_out():
    assert is_fresh(kept("private, max-age=60"), 1001)
    assert not is_fresh(kept("private, max-age=60"), 1001, shared=True)

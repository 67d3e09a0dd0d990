import pytest

from freshness import directives, is_fresh, lifetime
from response import Response


def kept(control, **headers):
    return Response(1000, {"Cache-Control": control, **headers})


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ('private="set-cookie, x-user", max-age=60', {"private": "set-cookie, x-user", "max-age": "60"}),
        ('ext="a,no-store", MAX-AGE=5', {"ext": "a,no-store", "max-age": "5"}),
        ("  max-age=5  ,  No-Store  ", {"max-age": "5", "no-store": None}),
        ("max-age=5, max-age=9", {"max-age": "5"}),
        ("max-age=9, MAX-AGE=5", {"max-age": "9"}),
        ("S-MaxAge=7", {"s-maxage": "7"}),
        ("a,,b", {"a": None, "b": None}),
        ("max-age=60,", {"max-age": "60"}),
        ('ext=""', {"ext": ""}),
        ("ext=Mixed", {"ext": "Mixed"}),
    ],
)
def test_directives(value, read):
    assert directives(value) == read


def test_a_private_cache_does_not_heed_s_maxage():
    assert lifetime(kept("s-maxage=600, max-age=60")) == 60
    assert lifetime(kept("s-maxage=600")) == 0
    assert not is_fresh(kept("s-maxage=600, max-age=60"), 1100)


def test_a_shared_cache_does_without_s_maxage():
    assert lifetime(kept("max-age=60"), shared=True) == 60
    assert lifetime(kept("max-age=600, s-maxage=0"), shared=True) == 0


@pytest.mark.parametrize("value", ["", "soon", "-5", "+5", "1.5", "6 0", "1_0", "60s"])
def test_a_number_is_made_of_digits(value):
    assert lifetime(kept(f'max-age="{value}"')) == 0
    assert lifetime(kept(f'max-age=60, s-maxage="{value}"'), shared=True) == 0
    assert lifetime(kept(f'max-age=60, s-maxage="{value}"')) == 60


def test_a_lifetime_without_a_value_is_none():
    assert lifetime(kept("max-age")) == 0
    assert lifetime(kept("max-age=60, s-maxage"), shared=True) == 0


def test_a_quoted_lifetime_counts():
    assert lifetime(kept('max-age="60"')) == 60


def test_at_the_very_second_it_is_no_longer_fresh():
    answer = kept("max-age=60")
    assert is_fresh(answer, 1059)
    assert not is_fresh(answer, 1060)
    assert not is_fresh(kept("max-age=0"), 1000)


def test_the_age_it_came_with_counts():
    assert is_fresh(kept("max-age=60", Age="40"), 1019)
    assert not is_fresh(kept("max-age=60", Age="40"), 1020)
    assert is_fresh(kept("max-age=60", Age="old"), 1059)
    assert is_fresh(kept("max-age=60", Age="-100"), 1059)
    assert not is_fresh(kept("max-age=60", Age="-100"), 1060)


@pytest.mark.parametrize("name", ["cache-control", "CACHE-CONTROL", "Cache-control"])
def test_header_names_in_any_case(name):
    assert is_fresh(Response(1000, {name: "max-age=60"}), 1001)
    assert not is_fresh(Response(1000, {name: "max-age=60", "AGE": "60"}), 1001)


@pytest.mark.parametrize("control", ["No-Store, max-age=60", "max-age=60, NO-CACHE", 'no-cache="x-a", max-age=60'])
@pytest.mark.parametrize("shared", [True, False])
def test_never_fresh(control, shared):
    assert not is_fresh(kept(control), 1001, shared=shared)


def test_private_with_a_value():
    answer = kept('private="set-cookie", max-age=60, s-maxage=60')
    assert not is_fresh(answer, 1001, shared=True)
    assert is_fresh(answer, 1001)


def test_a_word_within_quotes_is_no_directive():
    assert is_fresh(kept('ext="no-store, private", max-age=60'), 1001, shared=True)


def test_without_a_header_nothing_is_fresh():
    assert not is_fresh(Response(1000), 1000)
    assert not is_fresh(kept("public"), 1000, shared=True)

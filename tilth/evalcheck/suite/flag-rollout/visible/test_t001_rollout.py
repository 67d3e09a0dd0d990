from decimal import Decimal

import pytest

from featureflags import Flag, FlagError, Flags, parse_flags


# AC-1
@pytest.mark.parametrize("percent", ["-1", "100.01", "1.234", "101"])
def test_a_percentage_out_of_range_is_refused(percent):
    with pytest.raises(FlagError, match="search"):
        parse_flags({"search": {"percent": percent}})


# AC-2
def test_nobody_at_zero_and_everybody_at_a_hundred():
    flags = parse_flags({"none": {"percent": "0"}, "all": {"percent": "100"}})
    for number in range(50):
        assert not flags.is_on("none", f"user{number}")
        assert flags.is_on("all", f"user{number}")


# AC-2
def test_about_half_of_the_users_at_fifty():
    flags = parse_flags({"search": {"percent": "50.00"}})
    reached = sum(flags.is_on("search", f"user{number}") for number in range(1000))
    assert 400 < reached < 600


# AC-2
def test_named_users_are_reached_at_any_percentage():
    flags = Flags([Flag("search", users=frozenset({"ada"}), percent=Decimal(0))])
    assert flags.is_on("search", "ada")
    assert not flags.is_on("search", "eve")


# AC-3
def test_a_flag_that_does_not_exist_is_refused():
    with pytest.raises(FlagError):
        parse_flags({}).is_on("search", "ada")

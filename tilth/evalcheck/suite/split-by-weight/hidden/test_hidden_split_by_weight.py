from fractions import Fraction

import pytest

from split import split_by_weight, split_evenly


def reference(total, weights):
    if total < 0:
        return [-share for share in reference(-total, weights)]
    exact = [Fraction(total * weight, sum(weights)) for weight in weights]
    shares = [int(part) for part in exact]
    order = sorted(range(len(weights)), key=lambda at: (shares[at] - exact[at], at))
    for at in order[: total - sum(shares)]:
        shares[at] += 1
    return shares


WEIGHTS = [[1], [3, 1], [5, 2, 1], [1, 1, 1], [1, 2, 3], [3, 1, 1], [7, 0, 5, 1], [1, 1, 6], [2, 3, 5, 7, 11, 13], [10, 1, 1, 1]]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_small_total(weights):
    for total in range(-120, 121):
        assert split_by_weight(total, weights) == reference(total, weights), total


def test_the_largest_fraction_comes_first():
    assert split_by_weight(100, [1, 2, 3]) == [17, 33, 50]
    assert split_by_weight(10, [1, 1, 6]) == [1, 1, 8]
    assert split_by_weight(5, [3, 1, 1]) == [3, 1, 1]
    assert split_by_weight(101, [1, 3]) == [25, 76]


def test_of_equal_fractions_the_earlier_share_comes_first():
    assert split_by_weight(1, [1, 1]) == [1, 0]
    assert split_by_weight(2, [1, 1, 1, 1]) == [1, 1, 0, 0]
    assert split_by_weight(2, [3, 1]) == [2, 0]
    assert split_by_weight(2, [1, 3]) == [1, 1]


def test_a_refund_mirrors_the_bill():
    assert split_by_weight(-100, [1, 1, 1]) == [-34, -33, -33]
    assert split_by_weight(-101, [1, 3]) == [-25, -76]


def test_amounts_beyond_a_float():
    total = 10**18 + 1
    assert split_by_weight(total, [1, 2]) == reference(total, [1, 2])
    assert split_by_weight(100, [10**20, 10**20 + 1]) == [50, 50]
    assert split_by_weight(10**30 + 7, [1, 1, 1]) == reference(10**30 + 7, [1, 1, 1])


def test_nothing_to_split():
    assert split_by_weight(0, [1, 2]) == [0, 0]
    assert split_by_weight(7, [0, 3, 0]) == [0, 7, 0]


@pytest.mark.parametrize("weights", [[], [0], [0, 0], [2, -1], [-1, -1], [5, -5]])
def test_weights_that_make_no_sense(weights):
    with pytest.raises(ValueError):
        split_by_weight(100, weights)


def test_the_weights_are_left_alone():
    weights = [3, 1, 1]
    split_by_weight(101, weights)
    assert weights == [3, 1, 1]


def test_the_even_split_stays():
    assert split_evenly(101, 4) == [26, 25, 25, 25]

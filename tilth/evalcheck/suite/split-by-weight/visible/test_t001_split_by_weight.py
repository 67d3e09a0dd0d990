import pytest

from split import split_by_weight, split_evenly


# AC-1
def test_a_bill_that_divides_is_split_exactly():
    assert split_by_weight(9000, [1, 2, 3]) == [1500, 3000, 4500]


@pytest.mark.parametrize("total", [1, 99, 100, 101, 12345])
def test_no_cent_is_lost(total):
    assert sum(split_by_weight(total, [3, 3, 1])) == total


# AC-2
def test_the_odd_cent_goes_to_the_first_of_equals():
    assert split_by_weight(100, [1, 1, 1]) == [34, 33, 33]


# AC-3
def test_a_refund_is_split_too():
    assert split_by_weight(-9000, [1, 2]) == [-3000, -6000]


# AC-4
def test_who_was_not_there_pays_nothing():
    assert split_by_weight(1000, [0, 1, 1]) == [0, 500, 500]


@pytest.mark.parametrize("weights", [[], [0, 0], [2, -1]])
def test_weights_that_make_no_sense_are_refused(weights):
    with pytest.raises(ValueError):
        split_by_weight(100, weights)


# AC-5
def test_a_large_amount():
    assert split_by_weight(10**12, [1, 1]) == [5 * 10**11, 5 * 10**11]


def test_the_even_split_stays():
    assert split_evenly(100, 3) == [34, 33, 33]

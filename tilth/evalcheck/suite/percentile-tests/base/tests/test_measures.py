import pytest

from measures import MeasureError, mean, median, spread


def test_the_mean_of_three():
    assert mean([1, 2, 6]) == 3


@pytest.mark.parametrize(("values", "expected"), [([3, 1, 2], 2), ([4, 1, 3, 2], 2.5), ([7], 7)])
def test_the_median(values, expected):
    assert median(values) == expected


def test_the_spread():
    assert spread([4, -1, 2]) == 5


@pytest.mark.parametrize("measure", [mean, median, spread])
def test_no_values_are_refused(measure):
    with pytest.raises(MeasureError):
        measure([])

from pathlib import Path

import pytest

from measures import MeasureError, percentile


# AC-1
@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 10), (25, 17.5), (50, 25), (90, 37), (100, 40)]
)
def test_a_percentile_is_interpolated(percent, expected):
    assert percentile([40, 10, 30, 20], percent) == pytest.approx(expected)


# AC-1
def test_any_iterable_will_do_and_a_list_is_not_changed():
    values = [3, 1, 2]
    assert percentile(iter(values), 50) == percentile(values, 50) == 2
    assert values == [3, 1, 2]


# AC-2
@pytest.mark.parametrize(("values", "percent"), [([], 50), ([1], -1), ([1], 100.5)])
def test_what_is_not_defined_is_refused(values, percent):
    with pytest.raises(MeasureError):
        percentile(values, percent)


# AC-3
def test_there_are_tests():
    path = Path(__file__).parent / "test_percentile.py"
    assert "def test_" in path.read_text(encoding="utf-8")

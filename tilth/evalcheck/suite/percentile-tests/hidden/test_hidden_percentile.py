"""Whether the change's own tests notice a broken percentile."""

import sys
from pathlib import Path

import math

import measures
import pytest
from measures import MeasureError, percentile


OWN_TESTS = "test_percentile.py"

OWN = Path(__file__).resolve().parent / OWN_TESTS

# Parts of pytest that only cost time here.
NEEDLESS = ("terminal", "cacheprovider", "faulthandler", "unraisableexception", "threadexception")


class Tally:
    """Count how the tests of a run end."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def pytest_collectreport(self, report):
        self.failed += report.failed

    def pytest_runtest_logreport(self, report):
        self.failed += report.failed
        self.passed += report.passed and report.when == "call"


def run_own_tests():
    """Run the change's own tests on the product as it stands now, broken or not."""
    saved = {n: m for n, m in sys.modules.items() if getattr(m, "__file__", None) == str(OWN)}
    for name in saved:
        del sys.modules[name]
    known = set(sys.modules)
    tally = Tally()
    without = [f"-pno:{name}" for name in NEEDLESS]
    options = ["--import-mode=importlib", "--assert=plain", "--maxfail=1"]
    pytest.main([str(OWN), *options, *without], plugins=[tally])
    for name in set(sys.modules) - known:
        del sys.modules[name]
    sys.modules.update(saved)
    return tally


def test_the_own_tests_pass_as_things_are():
    tally = run_own_tests()
    assert tally.failed == 0
    assert tally.passed >= 1


def plant(monkeypatch, original, broken):
    """Put a broken function in the place of one, under every name that the product has for it."""
    places = [
        (module, name)
        for module in list(sys.modules.values())
        if str(getattr(module, "__file__", "")).startswith(str(OWN.parents[1]))
        and module.__name__ != __name__
        for name, value in list(vars(module).items())
        if value is original
    ]
    assert places, "the fault cannot be planted: the product does not hold the function"
    for module, name in places:
        monkeypatch.setattr(module, name, broken)


def position(values, percent):
    return (len(values) - 1) * percent / 100


def rounded_down(values, percent):
    ordered = sorted(values)
    percentile(ordered, percent)
    return ordered[math.floor(position(ordered, percent))]


def rounded_up(values, percent):
    ordered = sorted(values)
    percentile(ordered, percent)
    return ordered[math.ceil(position(ordered, percent))]


def halfway(values, percent):
    return (rounded_down(list(values), percent) + rounded_up(list(values), percent)) / 2


def unsorted(values, percent):
    values = list(values)
    percentile(values, percent)
    place = position(values, percent)
    low, high = values[math.floor(place)], values[math.ceil(place)]
    return low + (high - low) * (place - math.floor(place))


def sorted_in_place(values, percent):
    result = percentile(values, percent)
    if isinstance(values, list):
        values.sort()
    return result


def counted_from_one(values, percent):
    values = list(values)
    return percentile(values, min(100, percent * len(values) / max(1, len(values) - 1)))


def ends_left_out(values, percent):
    values = list(values)
    percentile(values, percent)
    return percentile(values, min(max(percent, 1), 99))


def nothing_gives_zero(values, percent):
    values = list(values)
    return percentile(values, percent) if values else 0


def below_is_taken(values, percent):
    return percentile(values, max(percent, 0))


def above_is_taken(values, percent):
    return percentile(values, min(percent, 100))


def another_error(values, percent):
    try:
        return percentile(values, percent)
    except MeasureError:
        raise ValueError("no percentile") from None


FAULTS = [
    rounded_down,
    rounded_up,
    halfway,
    unsorted,
    sorted_in_place,
    counted_from_one,
    ends_left_out,
    nothing_gives_zero,
    below_is_taken,
    above_is_taken,
    another_error,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_the_own_tests_notice(fault, monkeypatch):
    plant(monkeypatch, percentile, fault)
    assert run_own_tests().failed > 0


def test_the_product_is_right_itself():
    assert measures.percentile([5], 37) == 5
    assert measures.percentile((4, 1, 3, 2), 10) == pytest.approx(1.3)
    assert measures.percentile([2, 1], 100) == 2
    assert measures.percentile([1, -1e16, math.inf], 50) == 1
    assert measures.percentile([1, -1e16], 100) == 1
    assert measures.percentile([1, math.inf], 100) == math.inf
    with pytest.raises(MeasureError):
        measures.percentile([1, 2], math.nan)
